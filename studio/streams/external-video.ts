import type { StudioStream } from '../../protocol/studio.ts';

/** The addresses of a video that another service hosts. */
interface ExternalVideo {
  readonly hls_url: string | null;
  readonly dash_url: string | null;
}

/**
 * The external video of a stream; null for each address that this service made, which a form must not
 * store: it changes with the public URL of the service.
 */
export function externalVideoOf({
  id,
  hls_url,
  dash_url,
}: Pick<StudioStream, 'id' | 'hls_url' | 'dash_url'>): ExternalVideo {
  const externalUrl = (url: string) => (url.includes(`/media/${id}/`) ? null : url);
  return { hls_url: externalUrl(hls_url), dash_url: externalUrl(dash_url) };
}

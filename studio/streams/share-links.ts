import type { StudioStream } from '../../protocol/studio.ts';

/** The address of the viewer page. @param origin of the service, without a trailing slash */
export function viewerUrl(origin: string, streamId: string): string {
  return `${origin}/watch/${streamId}`;
}

/** HTML that embeds the viewer page, with its chat. */
export function embedCode(origin: string, { id, title }: Pick<StudioStream, 'id' | 'title'>) {
  const src = `${viewerUrl(origin, id)}?embed&amp;chat`;
  const style = 'width: 100%; height: 40rem; border: 0';
  const allow = 'autoplay; fullscreen; picture-in-picture';
  return `<iframe src="${src}" title="${escapeHtml(title)}" style="${style}" allow="${allow}"></iframe>`;
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

import Hls, { type HlsConfig } from 'hls.js';

// Of the service, video has only these paths; none has characters that servers may decode.
const VIDEO_PATH = /^\/media\/(?!previews\/)[\w-]+\/[\w./-]+$/;
const PREVIEW_PATH = /^\/media\/previews\/[\w-]+\/[\w./-]+$/;

/**
 * Creates the player of a playlist. A playlist of another server may name any URL, and the browser
 * adds the cookie to requests to the service: from there it loads only video, and previews only for
 * the playlist of a preview (SPEC U-7).
 * @param url HLS playlist
 */
export function createHls(url: string, config: Partial<HlsConfig>): Hls {
  const canLoad = requestFilter(url, location.href);
  return new Hls({
    ...config,
    // hls.js reports an exception as a network error, which it does not retry, and sends nothing.
    xhrSetup: (_, requestUrl) => {
      if (!canLoad(requestUrl)) throw new Error(`${requestUrl} is not a video.`);
    },
  });
}

/** @returns a function that returns whether the player of the playlist may request a URL */
export function requestFilter(playlistUrl: string, pageUrl: string): (url: string) => boolean {
  const { origin } = new URL(pageUrl);
  const playlist = new URL(playlistUrl, pageUrl);
  const isPreview = playlist.origin === origin && PREVIEW_PATH.test(playlist.pathname);
  const allowedPath = isPreview ? PREVIEW_PATH : VIDEO_PATH;
  return (url) => {
    const requested = new URL(url, pageUrl);
    return requested.origin !== origin || allowedPath.test(requested.pathname);
  };
}

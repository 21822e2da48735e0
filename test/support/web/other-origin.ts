import { INJECTED, RUN } from './hostile-texts.ts';

/** A server of another origin. */
export interface OtherOrigin {
  readonly origin: string;
  /** The paths of its requests so far. */
  readonly paths: readonly string[];
  /** The `Referer` headers of its requests so far. */
  readonly referrers: readonly string[];
  stop(): Promise<void>;
}

/** Requested by a script in a picture. */
export const SCRIPT_RAN = '/script-ran';

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="top.${RUN}()">
  <script>top.${RUN}(); fetch('${SCRIPT_RAN}')</script></svg>`;
const NAME = `NAME="<img ${INJECTED} src=x onerror=${RUN}()>"`;
const PLAYLIST = `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",${NAME},URI="a"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",${NAME},URI="s"
#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=16x9,AUDIO="a",SUBTITLES="s",${NAME}
v
`;

/** Starts a server that sends pictures and playlists with scripts, and fails webhook deliveries. */
export function startOtherOrigin(): OtherOrigin {
  const paths: string[] = [];
  const referrers: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ method, url, headers }) => {
      paths.push(new URL(url).pathname);
      const referrer = headers.get('referer');
      if (referrer !== null) referrers.push(referrer);
      const isPicture = headers.get('sec-fetch-dest') === 'image';
      const [text, type] = isPicture ? [PICTURE, 'image/svg+xml'] : [PLAYLIST, 'text/html'];
      return new Response(text, {
        status: method === 'POST' ? 500 : 200,
        headers: { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' },
      });
    },
  });
  const stop = () => server.stop(true);
  return { origin: `http://127.0.0.1:${server.port}`, paths, referrers, stop };
}

import { afterAll, expect, test } from 'bun:test';
import { fetchPlaylists, readPlaylists } from './playlists.ts';

const MASTER = `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="a0.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=426x240,CODECS="avc1.42c015,mp4a.40.2",AUDIO="a"
v0.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=212x120,AUDIO="a"
v1.m3u8
`;
const MEDIA = `#EXTM3U
#EXT-X-TARGETDURATION:1
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00.000Z
#EXTINF:1.000,
v0/0.m4s
#EXT-X-DISCONTINUITY
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:05.250Z
#EXTINF:1.000,
v0/1.m4s
#EXTINF:0.95,
v0/2.m4s
`;

const files: Record<string, string> = {};
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => {
    const text = files[new URL(url).pathname];
    return text === undefined ? new Response('', { status: 404 }) : new Response(text);
  },
});
afterAll(() => server.stop(true));

test('[M-45] readPlaylists returns the sizes and the end of the newest segment', () => {
  expect(readPlaylists(MASTER, MEDIA)).toEqual({
    sizes: ['426x240', '212x120'],
    edgeMs: Date.parse('2026-11-20T12:00:07.200Z'),
  });
  expect(readPlaylists('#EXTM3U', '#EXTM3U\n#EXTINF:1,\n')).toEqual({ sizes: [], edgeMs: null });
});

test('[M-45] fetchPlaylists returns null until both playlists exist, or when the server is unreachable', async () => {
  expect(await fetchPlaylists(server.url.origin, 'stream')).toBeNull();
  files['/media/stream/master.m3u8'] = MASTER;
  expect(await fetchPlaylists(server.url.origin, 'stream')).toBeNull();
  files['/media/stream/v0.m3u8'] = MEDIA;
  expect((await fetchPlaylists(server.url.origin, 'stream'))?.sizes).toEqual([
    '426x240',
    '212x120',
  ]);
  expect(await fetchPlaylists('http://127.0.0.1:1', 'stream')).toBeNull();
});

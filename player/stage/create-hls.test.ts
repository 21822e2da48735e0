import { expect, test } from 'bun:test';
import { requestFilter } from './create-hls.ts';

const PAGE = 'https://live.example.org/studio/streams/1/on-air';
const SHOW = '/media/0f8fad5b-d9cb-469f-a165-70867728950e';
const PREVIEW = '/media/previews/0f8fad5b-d9cb-469f-a165-70867728950e';
const FOREIGN = 'https://cdn.example.com/show/master.m3u8';

test.each([
  [FOREIGN, 'https://cdn.example.com/studio/v1/account'],
  [FOREIGN, 'http://live.example.org/studio/v1/account'],
  [FOREIGN, `https://live.example.org${SHOW}/v0/12.m4s`],
  [`${SHOW}/master.m3u8`, `${SHOW}/master.m3u8`],
  [`${SHOW}/master.m3u8`, `https://live.example.org${SHOW}/r2/v0.m3u8?_HLS_msn=3&_HLS_part=1`],
  [`${PREVIEW}/master.m3u8`, `https://live.example.org${PREVIEW}/v0/12.m4s`],
])('[U-7] the player of %s loads %s', (playlistUrl, url) => {
  expect(requestFilter(playlistUrl, PAGE)(url)).toBe(true);
});

test.each([
  [FOREIGN, 'https://live.example.org/studio/v1/account?n=1'],
  [FOREIGN, 'HTTPS://LIVE.EXAMPLE.ORG:443/studio/v1/account'],
  [FOREIGN, '//live.example.org/api/v1/streams'],
  [FOREIGN, 'https://x:y@live.example.org/studio/v1/account'],
  [FOREIGN, `${SHOW}/../../studio/v1/account`],
  [FOREIGN, `${SHOW}/%2e%2e/%2E%2E/studio/v1/account`],
  [FOREIGN, `${SHOW}/..%2f..%2fstudio/v1/account`],
  [FOREIGN, '/media\\..\\studio/v1/account'],
  [FOREIGN, `${PREVIEW}/master.m3u8`],
  [FOREIGN, `/media/%70reviews${SHOW}/master.m3u8`],
  [FOREIGN, `/media//previews${SHOW}/master.m3u8`],
  ['https://cdn.example.com/media/previews/1/master.m3u8', `${PREVIEW}/master.m3u8`],
  [`${SHOW}/master.m3u8`, `${PREVIEW}/master.m3u8`],
])('[U-7] the player of %s does not request %s', (playlistUrl, url) => {
  expect(requestFilter(playlistUrl, PAGE)(url)).toBe(false);
});

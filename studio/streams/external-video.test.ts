import { expect, test } from 'bun:test';
import { externalVideoOf } from './external-video.ts';

const id = '0f6c0b1e-6a52-4f55-9f3e-3a7d5f0a3c11';
const own = (file: string) => `https://live.example.org/media/${id}/${file}`;

test('addresses of this service are not those of an external video', () => {
  const stream = { id, hls_url: own('master.m3u8'), dash_url: own('manifest.mpd') };
  expect(externalVideoOf(stream)).toEqual({ hls_url: null, dash_url: null });
});

test('an external video keeps its addresses', () => {
  const hls_url = 'https://cdn.example/live.m3u8';
  const stream = { id, hls_url, dash_url: own('manifest.mpd') };
  expect(externalVideoOf(stream)).toEqual({ hls_url, dash_url: null });
});

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import type { Server } from 'bun';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/media/browser.ts';
import { encodeSource } from '../support/media/encoder-fixture.ts';
import { runFfmpeg } from '../support/media/ffmpeg-fixture.ts';
import type { PlayerApi } from '../support/media/player-api.ts';
import { openPlayerPage, servePlayers } from '../support/media/player-page.ts';
import { type Encoding, removeShows, Show } from '../support/media/show-fixture.ts';

// Real players on a recording with gaps from a full disk.

declare const api: PlayerApi;

// For these small frames, audio dominates the encoding time; keep most of it silent.
const TONE = "sine=440:r=16000,volume=0:enable='gt(mod(t,10),1)'";
const DISK_FULL_FROM_S = 20;
const SECONDS = 55;

let browser: Browser;
let pages: Server<undefined>;
let encoding: Encoding;

beforeAll(async () => {
  [browser, pages, encoding] = await Promise.all([launchBrowser(), servePlayers(), encode()]);
}, 30_000);
afterAll(async () => {
  await browser?.close();
  await pages?.stop(true);
});
afterEach(removeShows);

async function encode(): Promise<Encoding> {
  const source = runFfmpeg([
    ...['-f', 'lavfi', '-i', 'testsrc=s=64x36:r=10', '-f', 'lavfi', '-i', TONE],
    ...['-t', `${SECONDS}`, '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10'],
    ...['-c:a', 'aac', '-b:a', '32k', '-f', 'flv'],
  ]);
  const { tracks, inits, fragments } = await encodeSource(source, 'flv');
  const all = tracks.flatMap(({ id, timescale }) =>
    (fragments.get(id) ?? []).map((fragment) => {
      const { startTicks, durationTicks } = fragment;
      return { id, fragment, endS: (startTicks + durationTicks) / timescale };
    }),
  );
  all.sort((a, b) => a.endS - b.endS);
  return {
    tracks,
    inits: new Map([...inits].map(([id, { bytes }]) => [id, bytes])),
    fragments: all.map(({ id, fragment }) => [id, fragment] as const),
  };
}

test('[M-27] [M-29] hls.js and shaka skip gaps of a full disk and stay on the timeline', async () => {
  const show = await Show.begin(encoding.tracks.map(({ id }) => id));
  const playUntil = show.encoder(encoding);
  await playUntil(DISK_FULL_FROM_S);
  show.disk.failure = 'EIO';
  await playUntil(SECONDS - 1);
  show.disk.failure = null;
  await show.channel.end();
  expect(await show.violations()).toEqual([]);
  const [first = '', second = ''] = show.runs();
  expect(first).toBe(`0-${DISK_FULL_FROM_S - 1}`);
  const resumeS = Number.parseInt(second, 10);
  expect(resumeS).toBeWithin(DISK_FULL_FROM_S + 2, DISK_FULL_FROM_S + 6);

  const positions = await Promise.all(
    (['hls', 'shaka'] as const).map(async (kind) => {
      const url = show.url(kind === 'hls' ? 'master.m3u8' : 'manifest.mpd');
      const page = await openPlayerPage(browser, pages, { kind, url, atS: DISK_FULL_FROM_S - 1.5 });
      await page.waitForFunction((s) => api.position().currentTime > s, resumeS + 1);
      expect(await page.evaluate(() => api.errors())).toEqual([]);
      const position = await page.evaluate(() => api.position());
      await page.context().close();
      return { kind, ...position };
    }),
  );
  const beginMs = show.stored.segments[0]?.startMs ?? 0;
  for (const { wallClockMs, currentTime } of positions) {
    expect(currentTime).toBeLessThan(resumeS + 5);
    expect((wallClockMs ?? 0) - beginMs - currentTime * 1_000).toBeWithin(-10, 10);
  }
}, 40_000);

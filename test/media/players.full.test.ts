import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Server, Subprocess } from 'bun';
import type { Browser, Page } from 'playwright-core';
import { intervalAt } from '../../protocol/interval.ts';
import { type Harness, startService } from '../support/harness/harness.ts';
import { launchBrowser, networkLimiter } from '../support/media/browser.ts';
import { distributionOf, formatDistribution } from '../support/media/distribution.ts';
import type { FrameSample, PlayerApi, PlayerKind } from '../support/media/player-api.ts';
import { openPlayerPage, servePlayers } from '../support/media/player-page.ts';
import { playTestPicture, sendNoise } from '../support/media/test-source.ts';

// hls.js and shaka in a real browser.

const SECONDS = 8;
const WARM_MS = 3_000;
// Players measure several segments before they switch.
const SWITCH_MS = 30_000;
// bit/s. Without a limit, hls.js cannot estimate the bandwidth, since downloads take no time.
const GOOD_NETWORK = 4_000_000;
declare const api: PlayerApi;

let browser: Browser;
let pages: Server<undefined>;

beforeAll(async () => {
  pages = await servePlayers();
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await pages?.stop(true);
});

interface LiveStream {
  readonly service: Harness;
  readonly streamId: string;
  readonly source: Subprocess;
}

async function goLive(
  latency: 'normal' | 'low',
  send: typeof sendNoise = playTestPicture,
): Promise<LiveStream> {
  const service = await startService({
    clock: 'real',
    media: { latency, preset: 'ultrafast', sourceGraceMs: 1_000, rtmpPort: 0 },
  });
  const streamId = await service.createStream();
  const source = await send(service, streamId);
  return { service, streamId, source };
}

async function endLive({ service, source }: LiveStream): Promise<void> {
  source.kill('SIGINT');
  await source.exited;
  await service.close();
}

const NAMES: Record<PlayerKind, string> = { hls: 'hls.js', shaka: 'shaka' };

function addressOf({ service, streamId }: LiveStream, kind: PlayerKind): string {
  return `${service.url}/media/${streamId}/${kind === 'hls' ? 'master.m3u8' : 'manifest.mpd'}`;
}

function openPlayer(live: LiveStream, kind: PlayerKind): Promise<Page> {
  return openPlayerPage(browser, pages, { kind, url: addressOf(live, kind), atS: null });
}

/** Collects the frames on screen during the next seconds. */
async function watch(page: Page, seconds: number): Promise<readonly FrameSample[]> {
  await page.evaluate(() => api.forget());
  await page.waitForTimeout(seconds * 1_000);
  expect(await page.evaluate(() => api.errors())).toEqual([]);
  return page.evaluate(() => api.samples());
}

function printStatistics(name: string, samples: readonly FrameSample[]) {
  const errors = samples.map(({ playerMs, pictureMs }) => playerMs - pictureMs);
  const latencies = samples.map(({ nowMs, pictureMs }) => nowMs - pictureMs);
  console.log(`${name}: player clock minus frame time, ${formatDistribution(errors, 'ms')}`);
  console.log(`${name}: latency, ${formatDistribution(latencies, 'ms')}`);
  return { errors, latencies: distributionOf(latencies) };
}

/** Difference in intervals between the player's clock and the time in the frame. */
const intervalsOff = ({ playerMs, pictureMs }: FrameSample) =>
  Math.abs(intervalAt(Math.round(playerMs)) - intervalAt(pictureMs));

describe.each(['normal', 'low'] as const)('with %s latency', (latency) => {
  let live: LiveStream;
  const limitMs = latency === 'low' ? 3_000 : 5_000;

  beforeAll(async () => {
    live = await goLive(latency);
  }, 30_000);
  afterAll(() => endLive(live));

  test.each(['hls', 'shaka'] as const)(
    '[M-12] [M-14] %s: frames on screen have the interval of the feed and arrive in time',
    async (kind) => {
      const page = await openPlayer(live, kind);
      await page.waitForTimeout(WARM_MS);
      const samples = await watch(page, SECONDS);
      const { latencies } = printStatistics(`${NAMES[kind]}, ${latency}`, samples);
      expect(samples.length).toBeGreaterThan(SECONDS * 8);
      expect(Math.max(...samples.map(intervalsOff))).toBeLessThanOrEqual(1);
      expect(latencies.median).toBeLessThan(limitMs);
      await page.context().close();
    },
    40_000,
  );
});

describe('on a slower network', () => {
  let live: LiveStream;
  beforeAll(async () => {
    live = await goLive('normal', sendNoise);
  }, 30_000);
  afterAll(() => endLive(live));

  test.each(['hls', 'shaka'] as const)(
    '[M-10] [M-24] [M-25] %s: switches to a smaller rendition and back',
    async (kind) => {
      const page = await openPlayer(live, kind);
      const widths = [320, 160, 106];
      const [high = 0, medium = 0] = await bandwidthsOf(live);
      const limit = await networkLimiter(page);
      await limit(GOOD_NETWORK);
      await waitForWidth(page, (width) => width === widths[0]);
      await limit((high + medium) / 2);
      const reducedWidth = await waitForWidth(page, (width) => width !== widths[0]);
      await limit(GOOD_NETWORK);
      await waitForWidth(page, (width) => width === widths[0]);
      console.log(`${NAMES[kind]}: ${widths[0]} → ${reducedWidth} → ${widths[0]} pixels wide`);
      expect(widths.slice(1)).toContain(reducedWidth);
      expect(await page.evaluate(() => api.errors())).toEqual([]);
      await page.context().close();
    },
    90_000,
  );
});

/** Bandwidth of each rendition by the master playlist, bit/s, from high to low. */
async function bandwidthsOf(live: LiveStream): Promise<number[]> {
  const master = await (await fetch(addressOf(live, 'hls'))).text();
  return [...master.matchAll(/[:,]BANDWIDTH=(\d+)/g)].map(([, bits]) => Number(bits));
}

/** Waits until a frame on screen has an accepted width. @returns its width */
async function waitForWidth(page: Page, isAccepted: (width: number) => boolean): Promise<number> {
  const deadlineMs = performance.now() + SWITCH_MS;
  for (;;) {
    const width = await page.evaluate(() => api.position().width);
    if (isAccepted(width)) return width;
    if (performance.now() > deadlineMs) {
      const position = await page.evaluate(() => api.position());
      throw new Error(`still ${width} wide: ${JSON.stringify(position)}`);
    }
    await page.waitForTimeout(100);
  }
}

import { expect, test } from 'bun:test';
import { readPicture } from '../../../test/support/media/read-test-picture.ts';
import { MatroskaReader } from '../container/matroska.ts';
import { feedPicture } from './picture-feed.ts';
import { TestPicture } from './test-picture.ts';

const size = { width: 160, height: 90 };
const START_MS = 1_795_190_400_000;

/** Runs a feed on a clock of its own. @param busyMs how long the encoder takes for each frame */
async function run(frames: number, busyMs: (frame: number) => number) {
  let nowMs = START_MS + 3;
  const taken: { atMs: number; pieces: Uint8Array[] }[] = [];
  let skipped = 0;
  let drawn = 0;
  await feedPicture({
    ...size,
    picture: new TestPicture({ ...size, title: '' }),
    frameRate: 25,
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    write: async (pieces) => {
      taken.push({ atMs: nowMs, pieces: pieces.map((piece) => piece.slice()) });
      nowMs += taken.length > 1 ? busyMs(drawn) : 0;
      return true;
    },
    isOver: () => drawn >= frames,
    onFrame: (left) => {
      drawn++;
      skipped += left;
    },
  });
  return { header: taken[0], frames: taken.slice(1), skipped };
}

function momentIn(pieces: Uint8Array[]): number | undefined {
  const data = pieces.at(-1) ?? new Uint8Array(0);
  return readPicture({ ...size, data, format: 'luma' })?.unixMs;
}

test('[M-45] each frame shows the service time at which it is handed over', async () => {
  const { frames, skipped } = await run(50, () => 2);
  expect(skipped).toBe(0);
  expect(frames.map(({ pieces }) => momentIn(pieces))).toEqual(
    frames.map((_, frame) => START_MS + frame * 40),
  );
  for (const { atMs, pieces } of frames) {
    expect(atMs - (momentIn(pieces) ?? 0)).toBeWithin(0, 20);
  }
});

test('[M-45] frames whose time passes while the encoder is busy are left out', async () => {
  const { frames, skipped } = await run(20, (frame) => (frame === 5 ? 400 : 2));
  expect(skipped).toBe(9);
  for (const { atMs, pieces } of frames) {
    expect(atMs - (momentIn(pieces) ?? 0)).toBeWithin(0, 20.5);
  }
});

test('its times in the container are those it shows, and sound goes on without a hole', async () => {
  const { header, frames } = await run(40, (frame) => (frame === 9 ? 300 : 2));
  const reader = new MatroskaReader();
  const all = [...(header?.pieces ?? []), ...frames.flatMap(({ pieces }) => pieces)];
  const units = all.flatMap((piece) => reader.push(piece));
  expect(units.filter(({ isHeader }) => isHeader).length).toBe(4);
  expect(units.filter(({ isJoin }) => isJoin).length).toBe(40);
  const sound = frames.map(({ pieces }) => (pieces.at(-3)?.length ?? 0) / 96);
  const total = sound.reduce((sum, ms) => sum + ms, 0);
  const lastMs = momentIn(frames.at(-1)?.pieces ?? []) ?? 0;
  expect(START_MS + total).toBe(lastMs + 40 + 80);
});

test('ends when nobody takes any more', async () => {
  let writes = 0;
  await feedPicture({
    ...size,
    picture: new TestPicture({ ...size, title: '' }),
    frameRate: 25,
    nowMs: () => START_MS,
    sleep: async () => {},
    write: async () => ++writes < 2,
    isOver: () => false,
    onFrame: () => {},
  });
  expect(writes).toBe(2);
});

import { expect, test } from 'bun:test';
import { readPicture } from '../../../test/support/media/read-test-picture.ts';
import { MatroskaReader } from '../container/matroska.ts';
import { feedFrames } from './frame-feed.ts';
import { TestPicture } from './test-picture.ts';

const size = { width: 160, height: 90 };
const START_MS = 1_795_190_400_000;

/** Runs a feed in virtual time. @param busyMs how long the encoder takes for each frame */
async function run(frames: number, busyMs: (frame: number) => number) {
  let nowMs = START_MS + 3;
  const written: { atMs: number; pieces: Uint8Array[] }[] = [];
  let dropped = 0;
  let drawn = 0;
  await feedFrames({
    ...size,
    picture: new TestPicture({ ...size, title: '' }),
    frameRate: 25,
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    write: async (pieces) => {
      written.push({ atMs: nowMs, pieces: pieces.map((piece) => piece.slice()) });
      nowMs += written.length > 1 ? busyMs(drawn) : 0;
      return true;
    },
    isStopped: () => drawn >= frames,
    onFrame: (droppedBefore) => {
      drawn++;
      dropped += droppedBefore;
    },
  });
  return { header: written[0], frames: written.slice(1), dropped };
}

function shownTimeOf(pieces: Uint8Array[]): number | undefined {
  const data = pieces.at(-1) ?? new Uint8Array(0);
  return readPicture({ ...size, data, format: 'luma' })?.unixMs;
}

test('[M-45] each frame shows the service time at which it is written', async () => {
  const { frames, dropped } = await run(50, () => 2);
  expect(dropped).toBe(0);
  expect(frames.map(({ pieces }) => shownTimeOf(pieces))).toEqual(
    frames.map((_, frame) => START_MS + frame * 40),
  );
  for (const { atMs, pieces } of frames) {
    expect(atMs - (shownTimeOf(pieces) ?? 0)).toBeWithin(0, 20);
  }
});

test('[M-45] frames whose time passes while the encoder is busy are dropped', async () => {
  const { frames, dropped } = await run(20, (frame) => (frame === 5 ? 400 : 2));
  expect(dropped).toBe(9);
  for (const { atMs, pieces } of frames) {
    expect(atMs - (shownTimeOf(pieces) ?? 0)).toBeWithin(0, 20.5);
  }
});

test('container timestamps equal the shown times, and audio has no gap', async () => {
  const { header, frames } = await run(40, (frame) => (frame === 9 ? 300 : 2));
  const reader = new MatroskaReader();
  const all = [...(header?.pieces ?? []), ...frames.flatMap(({ pieces }) => pieces)];
  const units = all.flatMap((piece) => reader.push(piece));
  expect(units.filter(({ isHeader }) => isHeader).length).toBe(4);
  expect(units.filter(({ isEntryPoint }) => isEntryPoint).length).toBe(40);
  const audioMs = frames.map(({ pieces }) => (pieces.at(-3)?.length ?? 0) / 96);
  const audioTotalMs = audioMs.reduce((sum, ms) => sum + ms, 0);
  const lastMs = shownTimeOf(frames.at(-1)?.pieces ?? []) ?? 0;
  // Audio ends after the last frame of 40 ms and the audio lead of 80 ms.
  expect(START_MS + audioTotalMs).toBe(lastMs + 40 + 80);
});

test('the feed ends when the encoder accepts no more', async () => {
  let writes = 0;
  await feedFrames({
    ...size,
    picture: new TestPicture({ ...size, title: '' }),
    frameRate: 25,
    nowMs: () => START_MS,
    sleep: async () => {},
    write: async () => ++writes < 2,
    isStopped: () => false,
    onFrame: () => {},
  });
  expect(writes).toBe(2);
});

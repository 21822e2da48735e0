import { expect, test } from 'bun:test';
import { concatBytes } from '../byte-queue.ts';
import { FlvReader } from '../container/flv.ts';
import { FLV_AUDIO, FLV_VIDEO, flvHeader, flvTag, timestampOf } from '../container/flv-tag.ts';
import { FlvPictureFiller } from './flv-picture-filler.ts';

const KEY_FRAME = Uint8Array.of(0x17, 1, 0, 0, 0, 1);
const FRAME = Uint8Array.of(0x27, 1, 0, 0, 0, 2);
const SOUND = Uint8Array.of(0xaf, 1, 3);

/** Sends tags. @returns kind and time of each unit that comes out */
function createFiller() {
  const reader = new FlvReader();
  const filler = new FlvPictureFiller(() => true);
  reader.push(flvHeader(5));
  return (...tags: Uint8Array[]) =>
    filler.fill(tags.flatMap((tag) => reader.push(tag))).map(({ bytes, isEntryPoint }) => {
      const kind = bytes[0] === FLV_AUDIO ? 'sound' : isEntryPoint ? 'key' : 'frame';
      return `${kind} ${timestampOf(bytes)}`;
    });
}

const sound = (ms: number) => flvTag(FLV_AUDIO, ms, SOUND);
const key = (ms: number) => flvTag(FLV_VIDEO, ms, KEY_FRAME);
const frame = (ms: number) => flvTag(FLV_VIDEO, ms, FRAME);

test('[M-13] the pictures since the last key frame are repeated after 1 s without video, then each 0.5 s', () => {
  const send = createFiller();
  send(key(0), sound(0), frame(500), sound(500), key(1_000), sound(1_000), frame(1_100));
  expect(send(sound(1_500), sound(1_999))).toEqual(['sound 1500', 'sound 1999']);
  expect(send(sound(2_000))).toEqual(['sound 2000', 'key 2100', 'frame 2100']);
  expect(send(sound(2_400))).toEqual(['sound 2400']);
  expect(send(sound(2_500))).toEqual(['sound 2500', 'key 2600', 'frame 2600']);
  // The video returns, with a frame that refers to the last one.
  expect(send(frame(2_800), sound(2_800))).toEqual(['frame 2800', 'sound 2800']);
  expect(send(sound(3_500))).toHaveLength(4);
});

test('[M-13] of a group of more than 300 pictures or 4 MB the key frame alone is repeated', () => {
  const send = createFiller();
  send(sound(0), key(0), ...Array.from({ length: 300 }, (_, n) => frame(n + 1)));
  expect(send(sound(1_000))).toEqual(['sound 1000', 'key 1300']);
  const large = flvTag(FLV_VIDEO, 2_100, concatBytes([FRAME, new Uint8Array(5 << 20)]));
  send(key(2_000), sound(2_000), large);
  expect(send(sound(3_000))).toEqual(['sound 3000', 'key 3100']);
  // The next group is small.
  send(key(4_000), frame(4_100), sound(4_100));
  expect(send(sound(5_100))).toHaveLength(3);
});

test('[M-13] video with timestamps two seconds behind the sound has not stopped', () => {
  const send = createFiller();
  for (let ms = 2_000; ms < 20_000; ms += 100) {
    expect(send(sound(ms), ms % 1_000 === 0 ? key(ms - 2_000) : frame(ms - 2_000))).toHaveLength(2);
  }
});

test('[M-13] nothing is repeated before the first key frame, or without sound', () => {
  const send = createFiller();
  expect(send(frame(0), sound(0), sound(5_000))).toHaveLength(3);
  expect(send(key(6_000), frame(9_000), frame(20_000))).toHaveLength(3);
});

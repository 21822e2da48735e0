import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkReader } from './chunk-reader.ts';
import { chunked } from './chunk-writer.ts';
import {
  ABORT,
  controlMessage,
  RtmpError,
  type RtmpMessage,
  SET_CHUNK_SIZE,
} from './rtmp-message.ts';

const MOST = 1 << 20;

function readAll(reader: ChunkReader, bytes: Uint8Array): RtmpMessage[] {
  reader.feed(bytes);
  const messages: RtmpMessage[] = [];
  for (let next = reader.next(); next !== null; next = reader.next()) messages.push(next);
  return messages.map((message) => ({ ...message, payload: Uint8Array.from(message.payload) }));
}

function read(...parts: (Uint8Array | number[])[]): RtmpMessage[] {
  const bytes = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  return readAll(new ChunkReader(MOST), bytes);
}

/** A header of format 0 with the id of a chunk stream that is one byte. */
function full(id: number, timestamp: number, length: number, type = 9, streamId = 1): number[] {
  return [id, ...be24(timestamp), ...be24(length), type, streamId, 0, 0, 0];
}

function be24(value: number): number[] {
  return [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
}

const times = (messages: RtmpMessage[]) => messages.map(({ timestampMs }) => timestampMs);

const message = fc.record({
  type: fc.constantFrom(8, 9, 18, 20),
  streamId: fc.integer({ min: 0, max: 0xffff_ffff }),
  timestampMs: fc.oneof(
    fc.integer({ min: 0, max: 5_000 }),
    fc.integer({ min: 0xff_fffe, max: 0xffff_ffff }),
  ),
  payload: fc.uint8Array({ maxLength: 700 }),
});

test('messages are the same however they are cut, into chunks and on the wire', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 });
  const chunkBytes = fc.integer({ min: 1, max: 300 });
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      chunkBytes,
      cuts,
      (messages, size, lengths) => {
        const resized = controlMessage(SET_CHUNK_SIZE, size);
        const bytes = Buffer.concat([
          chunked(resized, 2, 128),
          ...messages.map((one, index) => chunked(one, 3 + (index % 3), size)),
        ]);
        const reader = new ChunkReader(MOST);
        const seen: RtmpMessage[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const length = lengths[turn % lengths.length] ?? 1;
          seen.push(...readAll(reader, bytes.subarray(at, at + length)));
          at += length;
        }
        expect(seen.slice(1)).toEqual(messages);
      },
    ),
  );
});

test('messages of several chunk streams come in turns', () => {
  const [video, audio] = [new Uint8Array(300).fill(1), new Uint8Array(130).fill(2)];
  const messages = read(
    full(6, 40, 300),
    video.subarray(0, 128),
    full(4, 41, 130, 8),
    audio.subarray(0, 128),
    [0xc6],
    video.subarray(0, 128),
    [0xc4],
    audio.subarray(0, 2),
    [0xc6],
    video.subarray(0, 44),
  );
  expect(messages).toEqual([
    { type: 8, streamId: 1, timestampMs: 41, payload: audio },
    { type: 9, streamId: 1, timestampMs: 40, payload: video },
  ]);
});

test('headers leave out what is as before', () => {
  const messages = read(
    full(4, 1_000, 1),
    [7],
    [0x44, ...be24(20), ...be24(2), 8, 1, 2],
    [0x84, ...be24(25), 3, 4],
    [0xc4, 5, 6],
  );
  expect(times(messages)).toEqual([1_000, 1_020, 1_045, 1_070]);
  expect(messages.map(({ type, payload }) => [type, ...payload])).toEqual([
    [9, 7],
    [8, 1, 2],
    [8, 3, 4],
    [8, 5, 6],
  ]);
});

test('format 3 after format 0 has the timestamp again as a difference', () => {
  expect(times(read(full(4, 40, 1), [7], [0xc4, 7], [0xc4, 7]))).toEqual([40, 80, 120]);
});

test('a chunk stream may begin with format 1', () => {
  expect(read([0x44, ...be24(20), ...be24(1), 8, 1])).toMatchObject([
    { streamId: 0, timestampMs: 20 },
  ]);
});

test('ids of chunk streams have one, two or three bytes', () => {
  const header = full(0, 5, 1).slice(1);
  const messages = read(
    [0, 10, ...header, 1],
    [1, 10, 0, ...be24(6), ...header.slice(3), 2],
    // The same chunk stream by the other spelling.
    [0xc0, 10, 3],
    [1, 0xff, 0xff, ...header, 4],
  );
  expect(times(messages)).toEqual([5, 6, 12, 5]);
});

describe('timestamps of 32 bits', () => {
  const extended = [0x12, 0x34, 0x56, 0x78];
  const payload = new Uint8Array(200).fill(9);

  test.each([
    ['are repeated before each chunk', extended],
    ['or are not', []],
  ])('%s', (_, again) => {
    const messages = read(
      [...full(4, 0xff_ffff, 200), ...extended],
      payload.subarray(0, 128),
      [0xc4, ...again],
      payload.subarray(128),
      full(4, 7, 1),
      [1],
    );
    expect(messages.map((one) => one.payload.length)).toEqual([200, 1]);
    expect(times(messages)).toEqual([0x1234_5678, 7]);
  });

  test('wrap', () => {
    const messages = read(
      [...full(4, 0xff_ffff, 1), 0xff, 0xff, 0xff, 0xf0, 1],
      [0x84, ...be24(0x20), 1],
    );
    expect(times(messages)).toEqual([0xffff_fff0, 0x10]);
  });
});

test('a message that is called off is forgotten', () => {
  const messages = read(
    full(4, 5, 300),
    new Uint8Array(128),
    chunked(controlMessage(ABORT, 4), 2, 128),
    full(4, 6, 1),
    [3],
  );
  expect(times(messages)).toEqual([0, 6]);
});

test('a message may have nothing in it', () => {
  expect(times(read(full(4, 5, 0), full(4, 6, 0)))).toEqual([5, 6]);
});

describe('[M-16] what is refused', () => {
  test.each([
    ['a chunk after nothing', [[0xc4]], 'never came'],
    ['a message too large', [full(4, 0, MOST + 1)], 'too large'],
    ['a message within another', [full(4, 0, 300), new Uint8Array(128), full(4, 0, 1)], 'within'],
    ['chunks of nothing', [full(2, 0, 4, SET_CHUNK_SIZE, 0), [0, 0, 0, 0]], 'chunks of 0'],
    ['a size that is cut off', [full(2, 0, 1, SET_CHUNK_SIZE, 0), [0]], 'cut off'],
    [
      'too many chunk streams',
      Array.from({ length: 65 }, (_, id) => [
        0,
        id,
        ...full(0, 0, 9).slice(1),
        ...Array(9).fill(1),
      ]),
      'too many chunk streams',
    ],
  ])('%s', (_, parts, line) => {
    expect(() => read(...parts)).toThrow(line);
  });

  test('many large messages at the same time', () => {
    const reader = new ChunkReader(100_000);
    readAll(reader, chunked(controlMessage(SET_CHUNK_SIZE, 50_000), 2, 128));
    const begin = (id: number) => [...full(id, 0, 100_000), ...new Uint8Array(50_000)];
    const ids = [3, 4, 5, 6, 7];
    expect(() => {
      for (const id of ids) readAll(reader, Uint8Array.from(begin(id)));
    }).toThrow('too many messages');
  });

  test('garbage is never another failure', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (chunks) => {
        const reader = new ChunkReader(MOST);
        try {
          for (const chunk of chunks) readAll(reader, chunk);
        } catch (error) {
          expect(error).toBeInstanceOf(RtmpError);
        }
      }),
    );
  });
});

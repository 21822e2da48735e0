import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkReader } from './chunk-reader.ts';
import { writeChunks } from './chunk-writer.ts';
import {
  ABORT,
  controlMessage,
  RtmpError,
  type RtmpMessage,
  SET_CHUNK_SIZE,
} from './rtmp-message.ts';

const MESSAGE_BYTES_MAX = 1 << 20;

function readAll(reader: ChunkReader, bytes: Uint8Array): RtmpMessage[] {
  reader.feed(bytes);
  const messages: RtmpMessage[] = [];
  for (let next = reader.next(); next !== null; next = reader.next()) messages.push(next);
  return messages.map((message) => ({ ...message, payload: Uint8Array.from(message.payload) }));
}

function read(...parts: (Uint8Array | number[])[]): RtmpMessage[] {
  const bytes = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  return readAll(new ChunkReader(MESSAGE_BYTES_MAX), bytes);
}

/** A format 0 header with a one-byte chunk stream id. */
function header0(id: number, timestamp: number, length: number, type = 9, streamId = 1): number[] {
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

test('RTMP messages are read in chunks of any size and from reads of any size', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 });
  const chunkBytes = fc.integer({ min: 128, max: 400 });
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      chunkBytes,
      cuts,
      (messages, size, lengths) => {
        const resized = controlMessage(SET_CHUNK_SIZE, size);
        const bytes = Buffer.concat([
          writeChunks(resized, 2, 128),
          ...messages.map((each, index) => writeChunks(each, 3 + (index % 3), size)),
        ]);
        const reader = new ChunkReader(MESSAGE_BYTES_MAX);
        const received: RtmpMessage[] = [];
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const length = lengths[index % lengths.length] ?? 1;
          received.push(...readAll(reader, bytes.subarray(at, at + length)));
          at += length;
        }
        expect(received.slice(1)).toEqual(messages);
      },
    ),
  );
});

test('messages of several chunk streams may be interleaved', () => {
  const [video, audio] = [new Uint8Array(300).fill(1), new Uint8Array(130).fill(2)];
  const messages = read(
    header0(6, 40, 300),
    video.subarray(0, 128),
    header0(4, 41, 130, 8),
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

test('chunk formats 1 to 3 inherit fields of the previous header', () => {
  const messages = read(
    header0(4, 1_000, 1),
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

test('chunk format 3 after format 0 repeats the timestamp as a delta', () => {
  expect(times(read(header0(4, 40, 1), [7], [0xc4, 7], [0xc4, 7]))).toEqual([40, 80, 120]);
});

test('a chunk stream may start with format 1', () => {
  expect(read([0x44, ...be24(20), ...be24(1), 8, 1])).toMatchObject([
    { streamId: 0, timestampMs: 20 },
  ]);
});

test('chunk stream ids have one, two or three bytes', () => {
  const header = header0(0, 5, 1).slice(1);
  const messages = read(
    [0, 10, ...header, 1],
    [1, 10, 0, ...be24(6), ...header.slice(3), 2],
    // The same chunk stream id in its three-byte form.
    [0xc0, 10, 3],
    [1, 0xff, 0xff, ...header, 4],
  );
  expect(times(messages)).toEqual([5, 6, 12, 5]);
});

describe('extended timestamps', () => {
  const extended = [0x12, 0x34, 0x56, 0x78];
  const payload = new Uint8Array(200).fill(9);

  test.each([
    ['may be repeated before each chunk', extended],
    ['may be omitted after the first chunk', []],
  ])('extended timestamps %s', (_, repeated) => {
    const messages = read(
      [...header0(4, 0xff_ffff, 200), ...extended],
      payload.subarray(0, 128),
      [0xc4, ...repeated],
      payload.subarray(128),
      header0(4, 7, 1),
      [1],
    );
    expect(messages.map((each) => each.payload.length)).toEqual([200, 1]);
    expect(times(messages)).toEqual([0x1234_5678, 7]);
  });

  test('extended timestamps wrap around at 2^32', () => {
    const messages = read(
      [...header0(4, 0xff_ffff, 1), 0xff, 0xff, 0xff, 0xf0, 1],
      [0x84, ...be24(0x20), 1],
    );
    expect(times(messages)).toEqual([0xffff_fff0, 0x10]);
  });
});

test('Abort discards the message in progress', () => {
  const messages = read(
    header0(4, 5, 300),
    new Uint8Array(128),
    writeChunks(controlMessage(ABORT, 4), 2, 128),
    header0(4, 6, 1),
    [3],
  );
  expect(times(messages)).toEqual([0, 6]);
});

test('an RTMP message may be empty', () => {
  expect(times(read(header0(4, 5, 0), header0(4, 6, 0)))).toEqual([5, 6]);
});

describe('[M-16] the chunk reader rejects', () => {
  test.each([
    ['a format 3 chunk without a previous chunk', [[0xc4]], 'does not exist'],
    ['a message too large', [header0(4, 0, MESSAGE_BYTES_MAX + 1)], 'too large'],
    [
      'a message within another',
      [header0(4, 0, 300), new Uint8Array(128), header0(4, 0, 1)],
      'within',
    ],
    ['a chunk size of 0', [header0(2, 0, 4, SET_CHUNK_SIZE, 0), [0, 0, 0, 0]], 'chunk size: 0'],
    [
      'a chunk size of 127',
      [header0(2, 0, 4, SET_CHUNK_SIZE, 0), [0, 0, 0, 127]],
      'chunk size: 127',
    ],
    ['a truncated chunk size', [header0(2, 0, 1, SET_CHUNK_SIZE, 0), [0]], 'truncated'],
    [
      'too many chunk streams',
      Array.from({ length: 65 }, (_, id) => [
        0,
        id,
        ...header0(0, 0, 9).slice(1),
        ...Array(9).fill(1),
      ]),
      'too many chunk streams',
    ],
  ])('the chunk reader rejects %s', (_, parts, errorText) => {
    expect(() => read(...parts)).toThrow(errorText);
  });

  test('the chunk reader rejects several large interleaved messages', () => {
    const reader = new ChunkReader(100_000);
    readAll(reader, writeChunks(controlMessage(SET_CHUNK_SIZE, 50_000), 2, 128));
    const begin = (id: number) => [...header0(id, 0, 100_000), ...new Uint8Array(50_000)];
    const ids = [3, 4, 5, 6, 7];
    expect(() => {
      for (const id of ids) readAll(reader, Uint8Array.from(begin(id)));
    }).toThrow('too many interleaved');
  });

  test('the chunk reader throws no error but RtmpError, for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (chunks) => {
        const reader = new ChunkReader(MESSAGE_BYTES_MAX);
        try {
          for (const chunk of chunks) readAll(reader, chunk);
        } catch (error) {
          expect(error).toBeInstanceOf(RtmpError);
        }
      }),
    );
  });
});

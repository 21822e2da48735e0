import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FlvReader } from '../container/flv.ts';
import { flvHeader, flvTag } from '../container/flv-tag.ts';
import { writeAmf } from './amf0.ts';
import { FlvStream } from './flv-stream.ts';
import { AGGREGATE, AUDIO, DATA, DATA_AMF3, RtmpError, VIDEO } from './rtmp-message.ts';

const KEY_PICTURE = Uint8Array.of(0x17, 1, 0, 0, 0, 1);
const PICTURE = Uint8Array.of(0x27, 1, 0, 0, 0, 1);
const AVC_HEADER = Uint8Array.of(0x17, 0, 0, 0, 0, 1);
const SOUND = Uint8Array.of(0xaf, 1, 5);

function message(type: number, timestampMs: number, payload: Uint8Array) {
  return { type, streamId: 1, timestampMs: timestampMs >>> 0, payload };
}

/** What a source that sends pictures at these times is written as. */
function written(times: readonly number[], stepMs = 40): (number | null)[] {
  const stream = new FlvStream();
  const bytes = times.flatMap((time, turn) =>
    stream.bytes(message(VIDEO, time, PICTURE), turn * stepMs),
  );
  const units = new FlvReader().push(Buffer.concat(bytes));
  return units.slice(1).map(({ sourceMs }) => sourceMs);
}

test('messages become tags, the first after a header', () => {
  const stream = new FlvStream();
  const bytes = [
    stream.bytes(message(VIDEO, 0, AVC_HEADER), 0),
    stream.bytes(message(VIDEO, 40, KEY_PICTURE), 0),
    stream.bytes(message(AUDIO, 41, SOUND), 0),
    stream.bytes(message(AUDIO, 41, new Uint8Array(0)), 0),
  ].flat();
  expect(bytes.map((part) => [...part])).toEqual(
    [
      flvHeader(5),
      flvTag(VIDEO, 0, AVC_HEADER),
      flvTag(VIDEO, 40, KEY_PICTURE),
      flvTag(AUDIO, 41, SOUND),
    ].map((part) => [...part]),
  );
});

describe('the description', () => {
  const description = { width: 1280, videocodecid: 7 };
  const plain = Buffer.from(writeAmf(['onMetaData', description]));

  test.each([
    ['as it is', DATA, plain],
    ['set', DATA, Buffer.concat([writeAmf(['@setDataFrame']), plain])],
    ['of AMF 3', DATA_AMF3, Buffer.concat([Buffer.of(0), writeAmf(['@setDataFrame']), plain])],
  ])('is kept, and says what is inside: %s', (_, type, payload) => {
    const [header, tag] = new FlvStream().bytes(message(type, 500, payload), 0);
    expect(header).toEqual(flvHeader(1));
    expect(tag).toEqual(flvTag(DATA, 0, plain));
  });

  test('has the time 0 also when it comes again', () => {
    const stream = new FlvStream();
    stream.bytes(message(VIDEO, 5_000, KEY_PICTURE), 0);
    expect(stream.bytes(message(DATA, 5_000, plain), 0)).toEqual([flvTag(DATA, 0, plain)]);
  });

  test.each([
    ['is another', Buffer.from(writeAmf(['onTextData', {}]))],
    ['cannot be read', Buffer.concat([plain, Buffer.of(77)])],
    ['is too large', Buffer.from(writeAmf(['onMetaData', { a: 'x'.repeat(70_000) }]))],
  ])('is left out when it %s', (_, payload) => {
    expect(new FlvStream().bytes(message(DATA, 0, payload), 0)).toEqual([]);
  });
});

test('aggregates are taken apart, their times moved to their own', () => {
  const parts = Buffer.concat([
    flvTag(VIDEO, 7_000, KEY_PICTURE),
    flvTag(AUDIO, 7_023, SOUND),
    // The last one's back pointer is left out by some.
    flvTag(VIDEO, 7_040, PICTURE).subarray(0, -4),
  ]);
  const [, ...tags] = new FlvStream().bytes(message(AGGREGATE, 120, parts), 0);
  expect(tags).toEqual([
    flvTag(VIDEO, 120, KEY_PICTURE),
    flvTag(AUDIO, 143, SOUND),
    flvTag(VIDEO, 160, PICTURE),
  ]);
});

describe('[M-12] times', () => {
  test('are as they come', () => {
    expect(written([3_600_000, 3_600_040, 3_600_020])).toEqual([3_600_000, 3_600_040, 3_600_020]);
  });

  test('go on over a wrap', () => {
    expect(written([2 ** 31 - 10, 2 ** 31 + 30, 2 ** 31 + 70])).toEqual([
      2 ** 31 - 10,
      2 ** 31 + 30,
      2 ** 31 + 70,
    ]);
    const times = Array.from({ length: 120 }, (_, hour) => hour * 3_600_000 * 11);
    expect(written(times, 3_600_000 * 11)).toEqual(times);
  });

  test('begin at 0 when the clock of the encoder is long past', () => {
    expect(written([2 ** 32 - 60, 2 ** 32 - 20, 20])).toEqual([0, 40, 80]);
  });

  test('are never before 0', () => {
    expect(written([5, -15, 25])).toEqual([5, 0, 25]);
    expect(written([-33, -40, 0])).toEqual([0, 0, 33]);
  });

  test('may have a gap as long as the silence before it', () => {
    expect(written([0, 120_000], 70_000)).toEqual([0, 120_000]);
  });

  test.each([[[50_000, 20_000]], [[0, 100_000]], [[0, 2 ** 31]]])(
    'that jump end the source: %p',
    (times) => {
      expect(() => written(times)).toThrow('The timestamps jumped by');
    },
  );
});

describe('[M-16] what is refused', () => {
  const enhanced = (name: string) => Uint8Array.of(0x91, ...Buffer.from(name), 0, 0);

  test.each([
    ['hvc1 is not understood', VIDEO, enhanced('hvc1')],
    ['av01 is not understood', VIDEO, enhanced('av01')],
    ['HEVC is not understood', VIDEO, Uint8Array.of(0x1c, 1, 0, 0, 0)],
    ['codec 0 is not understood', VIDEO, Uint8Array.of(0)],
    ['enhanced RTMP is not understood', VIDEO, Uint8Array.of(0x91, 1)],
    ['Opus is not understood', AUDIO, Uint8Array.of(0x90, ...Buffer.from('Opus'))],
    ['an aggregate is broken', AGGREGATE, Uint8Array.of(9, 0, 0, 5, 0)],
    ['an aggregate is broken', AGGREGATE, flvTag(AGGREGATE, 0, new Uint8Array(4))],
  ])('%s', (line, type, payload) => {
    expect(() => new FlvStream().bytes(message(type, 0, payload), 0)).toThrow(line);
  });

  test('garbage is never another failure', () => {
    const type = fc.constantFrom(AUDIO, VIDEO, DATA, DATA_AMF3, AGGREGATE);
    const sent = fc.array(fc.tuple(type, fc.integer(), fc.uint8Array()), { maxLength: 10 });
    fc.assert(
      fc.property(sent, (messages) => {
        const stream = new FlvStream();
        const reader = new FlvReader();
        try {
          for (const [kind, timestampMs, payload] of messages) {
            const bytes = stream.bytes(message(kind, timestampMs, payload), 0);
            reader.push(Buffer.concat(bytes));
          }
        } catch (error) {
          expect(error).toBeInstanceOf(RtmpError);
        }
      }),
    );
  });
});

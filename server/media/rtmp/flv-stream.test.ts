import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FlvReader } from '../container/flv.ts';
import { flvHeader, flvTag } from '../container/flv-tag.ts';
import { writeAmf } from './amf0.ts';
import { FlvStream } from './flv-stream.ts';
import { AGGREGATE, AUDIO, DATA, DATA_AMF3, RtmpError, VIDEO } from './rtmp-message.ts';

const KEY_FRAME = Uint8Array.of(0x17, 1, 0, 0, 0, 1);
const FRAME = Uint8Array.of(0x27, 1, 0, 0, 0, 1);
const AVC_HEADER = Uint8Array.of(0x17, 0, 0, 0, 0, 1);
const AUDIO_DATA = Uint8Array.of(0xaf, 1, 5);

function message(type: number, timestampMs: number, payload: Uint8Array) {
  return { type, streamId: 1, timestampMs: timestampMs >>> 0, payload };
}

/** Output times of a source that sends frames with these timestamps. */
function outputTimes(times: readonly number[], stepMs = 40): (number | null)[] {
  const stream = new FlvStream();
  const bytes = times.flatMap((time, index) =>
    stream.convert(message(VIDEO, time, FRAME), index * stepMs),
  );
  const units = new FlvReader().push(Buffer.concat(bytes));
  return units.slice(1).map(({ sourceMs }) => sourceMs);
}

test('RTMP messages become FLV tags after a file header', () => {
  const stream = new FlvStream();
  const bytes = [
    stream.convert(message(VIDEO, 0, AVC_HEADER), 0),
    stream.convert(message(VIDEO, 40, KEY_FRAME), 0),
    stream.convert(message(AUDIO, 41, AUDIO_DATA), 0),
    stream.convert(message(AUDIO, 41, new Uint8Array(0)), 0),
  ].flat();
  expect(bytes.map((part) => [...part])).toEqual(
    [
      flvHeader(5),
      flvTag(VIDEO, 0, AVC_HEADER),
      flvTag(VIDEO, 40, KEY_FRAME),
      flvTag(AUDIO, 41, AUDIO_DATA),
    ].map((part) => [...part]),
  );
});

describe('stream metadata', () => {
  const metadata = { width: 1280, videocodecid: 7 };
  const plain = Buffer.from(writeAmf(['onMetaData', metadata]));

  test.each([
    ['plain', DATA, plain],
    ['with @setDataFrame', DATA, Buffer.concat([writeAmf(['@setDataFrame']), plain])],
    ['as AMF 3', DATA_AMF3, Buffer.concat([Buffer.of(0), writeAmf(['@setDataFrame']), plain])],
  ])('stream metadata is passed on and sets the header flags: %s', (_, type, payload) => {
    const [header, tag] = new FlvStream().convert(message(type, 500, payload), 0);
    expect(header).toEqual(flvHeader(1));
    expect(tag).toEqual(flvTag(DATA, 0, plain));
  });

  test('[M-16] stream metadata beyond 20 messages a second is ignored', () => {
    const stream = new FlvStream();
    const tags = (nowMs: number) => stream.convert(message(DATA, 0, plain), nowMs).length;
    expect(Array.from({ length: 22 }, () => tags(0))).toEqual([2, ...Array(19).fill(1), 0, 0]);
    expect(tags(1_000)).toBe(1);
  });

  test('stream metadata has timestamp 0 also when it is repeated', () => {
    const stream = new FlvStream();
    stream.convert(message(VIDEO, 5_000, KEY_FRAME), 0);
    expect(stream.convert(message(DATA, 5_000, plain), 0)).toEqual([flvTag(DATA, 0, plain)]);
  });

  test.each([
    ['has another name', Buffer.from(writeAmf(['onTextData', {}]))],
    ['is malformed', Buffer.concat([plain, Buffer.of(77)])],
    ['is too large', Buffer.from(writeAmf(['onMetaData', { a: 'x'.repeat(70_000) }]))],
  ])('stream metadata is ignored when it %s', (_, payload) => {
    expect(new FlvStream().convert(message(DATA, 0, payload), 0)).toEqual([]);
  });
});

test('RTMP aggregates are split, with times relative to the aggregate', () => {
  const parts = Buffer.concat([
    flvTag(VIDEO, 7_000, KEY_FRAME),
    flvTag(AUDIO, 7_023, AUDIO_DATA),
    // Some encoders omit the last back pointer.
    flvTag(VIDEO, 7_040, FRAME).subarray(0, -4),
  ]);
  const [, ...tags] = new FlvStream().convert(message(AGGREGATE, 120, parts), 0);
  expect(tags).toEqual([
    flvTag(VIDEO, 120, KEY_FRAME),
    flvTag(AUDIO, 143, AUDIO_DATA),
    flvTag(VIDEO, 160, FRAME),
  ]);
});

describe('[M-12] output times', () => {
  test('RTMP output times equal the timestamps', () => {
    expect(outputTimes([3_600_000, 3_600_040, 3_600_020])).toEqual([
      3_600_000, 3_600_040, 3_600_020,
    ]);
  });

  test('RTMP output times continue over a wrap', () => {
    expect(outputTimes([2 ** 31 - 10, 2 ** 31 + 30, 2 ** 31 + 70])).toEqual([
      2 ** 31 - 10,
      2 ** 31 + 30,
      2 ** 31 + 70,
    ]);
    const times = Array.from({ length: 120 }, (_, hour) => hour * 3_600_000 * 11);
    expect(outputTimes(times, 3_600_000 * 11)).toEqual(times);
  });

  test('output times start at 0 when the encoder clock is past 2^31', () => {
    expect(outputTimes([2 ** 32 - 60, 2 ** 32 - 20, 20])).toEqual([0, 40, 80]);
  });

  test('RTMP output times are never negative', () => {
    expect(outputTimes([5, -15, 25])).toEqual([5, 0, 25]);
    expect(outputTimes([-33, -40, 0])).toEqual([0, 0, 33]);
  });

  test('RTMP output times may have a gap as long as the pause before it', () => {
    expect(outputTimes([0, 120_000], 70_000)).toEqual([0, 120_000]);
  });

  test.each([[[50_000, 20_000]], [[0, 100_000]], [[0, 2 ** 31]]])(
    'RTMP output times that jump end the source: %p',
    (times) => {
      expect(() => outputTimes(times)).toThrow('The timestamps jumped by');
    },
  );
});

describe('[M-16] the converter rejects', () => {
  const enhanced = (name: string) => Uint8Array.of(0x91, ...Buffer.from(name), 0, 0);

  test.each([
    ['hvc1 is not supported', VIDEO, enhanced('hvc1')],
    ['av01 is not supported', VIDEO, enhanced('av01')],
    ['HEVC is not supported', VIDEO, Uint8Array.of(0x1c, 1, 0, 0, 0)],
    ['codec 0 is not supported', VIDEO, Uint8Array.of(0)],
    ['enhanced RTMP is not supported', VIDEO, Uint8Array.of(0x91, 1)],
    ['Opus is not supported', AUDIO, Uint8Array.of(0x90, ...Buffer.from('Opus'))],
    ['an aggregate is malformed', AGGREGATE, Uint8Array.of(9, 0, 0, 5, 0)],
    ['an aggregate is malformed', AGGREGATE, flvTag(AGGREGATE, 0, new Uint8Array(4))],
  ])('the converter rejects the message: %s', (errorText, type, payload) => {
    expect(() => new FlvStream().convert(message(type, 0, payload), 0)).toThrow(errorText);
  });

  test('metadata that is a text is ignored, without a list of its characters', () => {
    const text = Buffer.from(writeAmf(['onMetaData', 'x'.repeat(60_000)]));
    expect(new FlvStream().convert(message(DATA, 0, text), 0)).toEqual([]);
  });

  test('too many messages in aggregates', () => {
    const stream = new FlvStream();
    const frames = Buffer.concat(Array.from({ length: 1_001 }, () => flvTag(VIDEO, 0, FRAME)));
    for (let n = 0; n < 2; n++) stream.convert(message(AGGREGATE, 0, frames), 0);
    expect(() => stream.convert(message(AGGREGATE, 0, frames), 0)).toThrow('Too many messages');
  });

  test('the converter throws no error but RtmpError, for any bytes', () => {
    const type = fc.constantFrom(AUDIO, VIDEO, DATA, DATA_AMF3, AGGREGATE);
    const sent = fc.array(fc.tuple(type, fc.integer(), fc.uint8Array()), { maxLength: 10 });
    fc.assert(
      fc.property(sent, (messages) => {
        const stream = new FlvStream();
        const reader = new FlvReader();
        try {
          for (const [kind, timestampMs, payload] of messages) {
            const bytes = stream.convert(message(kind, timestampMs, payload), 0);
            reader.push(Buffer.concat(bytes));
          }
        } catch (error) {
          expect(error).toBeInstanceOf(RtmpError);
        }
      }),
    );
  });
});

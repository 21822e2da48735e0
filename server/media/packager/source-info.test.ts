import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseSourceInfo } from './source-info.ts';

const VIDEO = {
  codec_type: 'video',
  codec_name: 'h264',
  width: 1280,
  height: 720,
  sample_aspect_ratio: '1:1',
  pix_fmt: 'yuv420p',
  field_order: 'progressive',
  r_frame_rate: '30/1',
  avg_frame_rate: '30/1',
};
const AUDIO = { codec_type: 'audio', sample_fmt: 'fltp', sample_rate: '48000', channels: 2 };

const info = (video: object, ...others: object[]) =>
  parseSourceInfo(JSON.stringify({ streams: [{ ...VIDEO, ...video }, ...others] }));

describe('a source', () => {
  test('[M-13] has a size, a frame rate, and sound or none', () => {
    expect(info({}, AUDIO)).toEqual({
      width: 1280,
      height: 720,
      frameRate: [30, 1],
      hasAudio: true,
    });
    expect(info({}).hasAudio).toBeFalse();
  });

  test('[M-13] whose sound cannot be decoded has none', () => {
    expect(info({}, { ...AUDIO, sample_fmt: undefined }).hasAudio).toBeFalse();
    expect(info({}, { ...AUDIO, sample_rate: '0' }).hasAudio).toBeFalse();
    expect(info({}, { ...AUDIO, channels: 0 }).hasAudio).toBeFalse();
  });

  test.each([
    ['720x576 as 4:3', { width: 720, height: 576, sample_aspect_ratio: '16:15' }, [768, 576]],
    ['720x480 as 16:9', { width: 720, height: 480, sample_aspect_ratio: '32:27' }, [853, 480]],
    ['720x480 as 4:3', { width: 720, height: 480, sample_aspect_ratio: '8:9' }, [640, 480]],
    ['an aspect that is not known', { sample_aspect_ratio: '0:1' }, [1280, 720]],
    ['a telephone upright', { side_data_list: [{}, { rotation: -90 }] }, [720, 1280]],
    ['a telephone head first', { side_data_list: [{ rotation: 180 }] }, [1280, 720]],
  ])('[M-13] is shown with square pixels, and turned: %s', (_, video, [width, height]) => {
    expect(info(video)).toMatchObject({ width, height });
  });

  test('[M-13] whose frames are fields says so', () => {
    expect(info({ field_order: 'tt' }).isInterlaced).toBeTrue();
    expect(info({})).not.toHaveProperty('isInterlaced');
  });

  test.each([
    ['its own', '30/1', '30/1', [30, 1]],
    ['29.97, exact', '30000/1001', '30000/1001', [30_000, 1_001]],
    ['29.97, as a decimal', '2997/100', '2997/100', [30_000, 1_001]],
    ['59.94', '60000/1001', '60000/1001', [60_000, 1_001]],
    ['23.976', '24000/1001', '24000/1001', [24_000, 1_001]],
    ['its own, though some frames are missing', '30/1', '28/1', [30, 1]],
    ['frames, not fields', '50/1', '25/1', [25, 1]],
    ['what was counted, of an uneven one', '1000/1', '29/1', [30, 1]],
    ['what was counted, in the dark', '30/1', '14/1', [15, 1]],
    ['the usual of a browser that says nothing', '1000/1', '1000/1', [30, 1]],
    ['the usual of one that knows nothing', '0/0', '0/0', [30, 1]],
    ['60 of more', '120/1', '120/1', [60, 1]],
    ['10 of less', '5/1', '5/1', [10, 1]],
    ['10 of almost none', '1/10', '1/10', [30, 1]],
  ])('[M-13] has a frame rate: %s', (_, r, avg, rate) => {
    expect(info({ r_frame_rate: r, avg_frame_rate: avg }).frameRate).toEqual(
      rate as [number, number],
    );
  });
});

describe('what cannot be encoded', () => {
  test('[M-16] is refused with a line that its sender understands', () => {
    const refused = (found: object) => {
      try {
        return `${JSON.stringify(parseSourceInfo(JSON.stringify(found)))} is taken`;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const video = (change: object) => refused({ streams: [{ ...VIDEO, ...change }] });
    expect(refused({})).toBe('no video was found in what was sent');
    expect(refused({ streams: [] })).toBe('no video was found in what was sent');
    expect(refused({ streams: 'none' })).toBe('no video was found in what was sent');
    expect(refused({ streams: [AUDIO] })).toBe(
      'there is no picture in it: a source needs a video track',
    );
    expect(video({ pix_fmt: undefined, codec_name: 'vvc' })).toBe(
      'its picture (vvc) cannot be decoded by this ffmpeg, or never begins; H.264 works everywhere',
    );
    expect(video({ pix_fmt: undefined, codec_name: 'unknown' })).toBe(
      'no video was found in what was sent',
    );
    expect(video({ width: 0 })).toBe('its picture has no size');
    expect(video({ width: 12 })).toBe('its picture is 12×720; the least is 16 pixels on each side');
    expect(video({ width: 7680, height: 4320 })).toBe(
      'its picture is 7680×4320; the most is 4096 pixels on a side and 9437184 in all (4K)',
    );
    expect(video({ width: 4000, height: 4000 })).toContain('4000×4000');
    expect(video({ sample_aspect_ratio: '1000:1' })).toContain('1280000×720');
  });

  test('[M-16] never breaks anything, whatever ffprobe says', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('1/0', '-1/1', 'NaN/NaN', '1e999/1'));
    const field = fc.oneof(text, fc.integer(), fc.double(), fc.constant(null));
    const stream = fc.record(
      {
        ...videoFields(field),
        codec_type: fc.constantFrom('video', 'audio'),
        codec_name: fc.constantFrom('h264', 'unknown'),
        pix_fmt: fc.constant('yuv420p'),
        width: fc.integer(),
        height: fc.integer({ min: 0, max: 5_000 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(stream, { maxLength: 3 }), (streams) => {
        try {
          const { width, height, frameRate } = parseSourceInfo(JSON.stringify({ streams }));
          expect(Math.min(width, height)).toBeGreaterThanOrEqual(16);
          expect(Math.max(width, height)).toBeLessThanOrEqual(4_096);
          expect(frameRate[0] / frameRate[1]).toBeLessThanOrEqual(60);
          expect(frameRate[0] / frameRate[1]).toBeGreaterThanOrEqual(10);
        } catch (error) {
          expect((error as Error).message).toMatch(/^(no|its|there)/);
        }
      }),
    );
  });
});

function videoFields<Field>(field: fc.Arbitrary<Field>) {
  return {
    sample_aspect_ratio: field,
    r_frame_rate: field,
    avg_frame_rate: field,
    channels: field,
  };
}

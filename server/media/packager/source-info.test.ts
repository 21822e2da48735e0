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

describe('source info', () => {
  test('[M-13] source info has size, frame rate and audio', () => {
    expect(info({}, AUDIO)).toEqual({
      width: 1280,
      height: 720,
      frameRate: [30, 1],
      hasAudio: true,
    });
    expect(info({}).hasAudio).toBeFalse();
  });

  test('[M-13] audio that cannot be decoded counts as none', () => {
    expect(info({}, { ...AUDIO, sample_fmt: undefined }).hasAudio).toBeFalse();
    expect(info({}, { ...AUDIO, sample_rate: '0' }).hasAudio).toBeFalse();
    expect(info({}, { ...AUDIO, channels: 0 }).hasAudio).toBeFalse();
  });

  test.each([
    ['720x576 as 4:3', { width: 720, height: 576, sample_aspect_ratio: '16:15' }, [768, 576]],
    ['720x480 as 16:9', { width: 720, height: 480, sample_aspect_ratio: '32:27' }, [853, 480]],
    ['720x480 as 4:3', { width: 720, height: 480, sample_aspect_ratio: '8:9' }, [640, 480]],
    ['an unknown aspect ratio', { sample_aspect_ratio: '0:1' }, [1280, 720]],
    ['an upright phone', { side_data_list: [{}, { rotation: -90 }] }, [720, 1280]],
    ['an upside-down phone', { side_data_list: [{ rotation: 180 }] }, [1280, 720]],
  ])('[M-13] display size of %s has square pixels and rotation', (_, video, [width, height]) => {
    expect(info(video)).toMatchObject({ width, height });
  });

  test('[M-13] an interlaced source is marked', () => {
    expect(info({ field_order: 'tt' }).isInterlaced).toBeTrue();
    expect(info({})).not.toHaveProperty('isInterlaced');
  });

  test.each([
    ['constant', '30/1', '30/1', [30, 1]],
    ['29.97, exact', '30000/1001', '30000/1001', [30_000, 1_001]],
    ['29.97, as a decimal', '2997/100', '2997/100', [30_000, 1_001]],
    ['59.94', '60000/1001', '60000/1001', [60_000, 1_001]],
    ['23.976', '24000/1001', '24000/1001', [24_000, 1_001]],
    ['constant with missing frames', '30/1', '28/1', [30, 1]],
    ['frames instead of fields', '50/1', '25/1', [25, 1]],
    ['counted for a variable rate', '1000/1', '29/1', [30, 1]],
    ['counted for a dark scene', '30/1', '14/1', [15, 1]],
    ['default for a browser without a rate', '1000/1', '1000/1', [30, 1]],
    ['default for an unknown rate', '0/0', '0/0', [30, 1]],
    ['60 for a higher rate', '120/1', '120/1', [60, 1]],
    ['10 for a lower rate', '5/1', '5/1', [10, 1]],
    ['default below 1', '1/10', '1/10', [30, 1]],
  ])('[M-13] frame rate is chosen: %s', (_, r, avg, rate) => {
    expect(info({ r_frame_rate: r, avg_frame_rate: avg }).frameRate).toEqual(
      rate as [number, number],
    );
  });
});

describe('invalid source', () => {
  test('[M-16] invalid source is rejected with a message for the sender', () => {
    const rejectionOf = (output: object) => {
      try {
        return `${JSON.stringify(parseSourceInfo(JSON.stringify(output)))} is accepted`;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const video = (change: object) => rejectionOf({ streams: [{ ...VIDEO, ...change }] });
    expect(rejectionOf({})).toBe('No video was found in the source.');
    expect(rejectionOf({ streams: [] })).toBe('No video was found in the source.');
    expect(rejectionOf({ streams: 'none' })).toBe('No video was found in the source.');
    expect(rejectionOf({ streams: [AUDIO] })).toBe(
      'The source has no video track; a source needs one.',
    );
    expect(video({ pix_fmt: undefined, codec_name: 'vvc' })).toBe(
      'The video (vvc) has no key frame or cannot be decoded by this ffmpeg. H.264 always works.',
    );
    expect(video({ pix_fmt: undefined, codec_name: 'unknown' })).toBe(
      'No video was found in the source.',
    );
    expect(video({ width: 0 })).toBe('The video has no size.');
    expect(video({ width: 12 })).toBe('The video is 12×720; each side needs at least 16 pixels.');
    expect(video({ width: 7680, height: 4320 })).toBe(
      'The video is 7680×4320; at most 4096 pixels on a side and 9437184 in total (4K) are allowed.',
    );
    expect(video({ width: 4000, height: 4000 })).toContain('4000×4000');
    expect(video({ sample_aspect_ratio: '1000:1' })).toContain('1280000×720');
  });

  test('[M-16] any output of ffprobe gives valid info or a message', () => {
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
          expect((error as Error).message).toMatch(/^(No|The) /);
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

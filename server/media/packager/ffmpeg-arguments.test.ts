import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { PLAYBACK_LADDER } from '../../../protocol/limits.ts';
import type { EncoderOptions, EncoderSettings, SourceInfo } from './encoder.ts';
import { encoderArguments, encoderRate, framesPerSegment } from './ffmpeg-arguments.ts';

const FULL_HD: SourceInfo = { width: 1920, height: 1080, frameRate: [30, 1], hasAudio: true };
const SETTINGS: EncoderSettings = {
  ffmpeg: 'ffmpeg',
  encoder: 'libx264',
  preset: 'veryfast',
  ladder: PLAYBACK_LADDER,
  segmentMs: 1000,
  fragmentMs: 500,
};
const OBS: EncoderOptions = { container: 'flv', source: FULL_HD, settings: SETTINGS, startMs: 0 };

const encodedBy = (encoder: string, preset = 'veryfast'): EncoderOptions => ({
  ...OBS,
  settings: { ...SETTINGS, encoder, preset, ladder: PLAYBACK_LADDER.slice(0, 1) },
});

/** The arguments with one option and its value on each line, and one filter on each line. */
function lines(options: EncoderOptions): string[] {
  const lines: string[] = [];
  for (const argument of encoderArguments(options)) {
    const last = lines.at(-1);
    const isValue = last?.startsWith('-') && !last.includes(' ') && !FLAGS.has(last);
    if (isValue && !/^-[a-z]/.test(argument))
      lines.push(...formatOption(lines.pop() ?? '', argument));
    else lines.push(argument);
  }
  return lines;
}

const FLAGS: ReadonlySet<string> = new Set(['-hide_banner', '-nostdin', '-nostats', '-copyts']);

function formatOption(option: string, value: string): string[] {
  if (option !== '-filter_complex') return [`${option} ${value}`];
  const chains = value.split(';').map((chain) => chain.split(/,(?=[a-z]+=)/).join(',\n'));
  return [
    option,
    ...chains
      .join(';\n')
      .split('\n')
      .map((filter) => `  ${filter}`),
  ];
}

const text = (all: readonly string[]) => `\n${all.map((line) => `      ${line}\n`).join('')}    `;

/** The difference between the arguments of two encoder runs. */
function changes(from: EncoderOptions, to: EncoderOptions): string {
  const before = lines(from);
  const after = lines(to);
  return text([
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ]);
}

describe('encoder arguments', () => {
  test('[M-10] [M-11] full HD from OBS gets three renditions and audio', () => {
    expect(text(lines(OBS))).toBe(`
      -hide_banner
      -nostdin
      -nostats
      -loglevel warning
      -progress pipe:1
      -stats_period 1
      -copyts
      -f flv
      -protocol_whitelist pipe
      -analyzeduration 1000000
      -probesize 2000000
      -max_pixels 9437184
      -fpsprobesize 0
      -threads 2
      -i pipe:0
      -filter_complex
        [0:v:0]select='isnan(prev_selected_t)+lt(abs(t-prev_selected_t),30)',
        scale=w='if(lt(abs(dar*1080/1920-1),0.05),1920,min(1920,max(2,2*round(1080*dar/2))))':h='if(lt(abs(dar*1080/1920-1),0.05),1080,min(1080,max(2,2*round(1920/dar/2))))',
        pad=1920:1080:-1:-1,
        setsar=1,
        format=yuv420p,
        split=3[v0s][v1s][v2s];
        [v0s]fps=30/1[v0];
        [v1s]scale=960:540,
        setsar=1,
        fps=30/1[v1];
        [v2s]scale=640:360,
        setsar=1,
        fps=30/1[v2]
      -map [v0]
      -c:v libx264
      -preset veryfast
      -tune zerolatency
      -crf 23
      -maxrate 6662613
      -bufsize 3331306
      -sc_threshold 0
      -bf 0
      -g 30
      -force_key_frames expr:not(mod(n,30))
      -video_track_timescale 90000
      -map_metadata -1
      -f mp4
      -movflags +cmaf+frag_discont+frag_keyframe+skip_trailer
      -frag_duration 500000
      -avoid_negative_ts disabled
      -flush_packets 1
      pipe:3
      -map [v1]
      -c:v libx264
      -preset veryfast
      -tune zerolatency
      -crf 23
      -maxrate 2352969
      -bufsize 1176484
      -sc_threshold 0
      -bf 0
      -g 30
      -force_key_frames expr:not(mod(n,30))
      -video_track_timescale 90000
      -map_metadata -1
      -f mp4
      -movflags +cmaf+frag_discont+frag_keyframe+skip_trailer
      -frag_duration 500000
      -avoid_negative_ts disabled
      -flush_packets 1
      pipe:4
      -map [v2]
      -c:v libx264
      -preset veryfast
      -tune zerolatency
      -crf 23
      -maxrate 1278947
      -bufsize 639473
      -sc_threshold 0
      -bf 0
      -g 30
      -force_key_frames expr:not(mod(n,30))
      -video_track_timescale 90000
      -map_metadata -1
      -f mp4
      -movflags +cmaf+frag_discont+frag_keyframe+skip_trailer
      -frag_duration 500000
      -avoid_negative_ts disabled
      -flush_packets 1
      pipe:5
      -map 0:a:0
      -af aselect='isnan(prev_selected_t)+lt(abs(t-prev_selected_t),60)',aresample=48000:async=1000
      -ac 2
      -c:a aac
      -b:a 128000
      -map_metadata -1
      -f mp4
      -movflags +cmaf+frag_discont+skip_trailer
      -frag_duration 100000
      -avoid_negative_ts disabled
      -flush_packets 1
      pipe:6
    `);
  });

  test('[M-13] arguments name the container', () => {
    expect(changes(OBS, { ...OBS, container: 'mpegts' })).toBe(`
      - -f flv
      + -f mpegts
    `);
    expect(changes(OBS, { ...OBS, container: 'matroska' })).toBe(`
      - -f flv
      + -f matroska
    `);
  });

  test('[M-13] a source without audio gets no audio output', () => {
    expect(changes(OBS, { ...OBS, source: { ...FULL_HD, hasAudio: false } })).toBe(`
      - -map 0:a:0
      - -af aselect='isnan(prev_selected_t)+lt(abs(t-prev_selected_t),60)',aresample=48000:async=1000
      - -ac 2
      - -c:a aac
      - -b:a 128000
      - -movflags +cmaf+frag_discont+skip_trailer
      - -frag_duration 100000
      - pipe:6
    `);
  });

  test('[M-13] sources of 29.97 and 60 frames a second keep their rate', () => {
    expect(changes(OBS, { ...OBS, source: { ...FULL_HD, frameRate: [30_000, 1_001] } })).toBe(`
      -   [v0s]fps=30/1[v0];
      -   fps=30/1[v1];
      -   fps=30/1[v2]
      - -maxrate 6662613
      - -bufsize 3331306
      - -maxrate 2352969
      - -bufsize 1176484
      - -maxrate 1278947
      - -bufsize 639473
      +   [v0s]fps=30000/1001[v0];
      +   fps=30000/1001[v1];
      +   fps=30000/1001[v2]
      + -maxrate 6657620
      + -bufsize 3328810
      + -maxrate 2351205
      + -bufsize 1175602
      + -maxrate 1277988
      + -bufsize 638994
    `);
    expect(changes(OBS, { ...OBS, source: { ...FULL_HD, frameRate: [60, 1] } })).toBe(`
      -   [v0s]fps=30/1[v0];
      -   fps=30/1[v1];
      -   fps=30/1[v2]
      - -maxrate 6662613
      - -bufsize 3331306
      - -g 30
      - -force_key_frames expr:not(mod(n,30))
      - -maxrate 2352969
      - -bufsize 1176484
      - -g 30
      - -force_key_frames expr:not(mod(n,30))
      - -maxrate 1278947
      - -bufsize 639473
      - -g 30
      - -force_key_frames expr:not(mod(n,30))
      +   [v0s]fps=60/1[v0];
      +   fps=60/1[v1];
      +   fps=60/1[v2]
      + -maxrate 11205338
      + -bufsize 5602669
      + -g 60
      + -force_key_frames expr:not(mod(n,60))
      + -maxrate 3957410
      + -bufsize 1978705
      + -g 60
      + -force_key_frames expr:not(mod(n,60))
      + -maxrate 2151128
      + -bufsize 1075564
      + -g 60
      + -force_key_frames expr:not(mod(n,60))
    `);
  });

  test('[M-13] interlaced, 4K and long-analyzed sources get their arguments', () => {
    expect(changes(OBS, { ...OBS, source: { ...FULL_HD, isInterlaced: true } })).toBe(`
      +   yadif=deint=interlaced,
    `);
    const large = { ...FULL_HD, width: 3840, height: 2160 };
    const one = encodedBy('libx264');
    expect(changes(one, { ...one, source: large })).toBe(`
      - -threads 2
      -   scale=w='if(lt(abs(dar*1080/1920-1),0.05),1920,min(1920,max(2,2*round(1080*dar/2))))':h='if(lt(abs(dar*1080/1920-1),0.05),1080,min(1080,max(2,2*round(1920/dar/2))))',
      -   pad=1920:1080:-1:-1,
      - -maxrate 6662613
      - -bufsize 3331306
      + -threads 4
      +   scale=w='if(lt(abs(dar*2160/3840-1),0.05),3840,min(3840,max(2,2*round(2160*dar/2))))':h='if(lt(abs(dar*2160/3840-1),0.05),2160,min(2160,max(2,2*round(3840/dar/2))))',
      +   pad=3840:2160:-1:-1,
      + -maxrate 12795946
      + -bufsize 6397973
    `);
    expect(changes(OBS, { ...OBS, source: { ...FULL_HD, analyzeMs: 8000 } })).toBe(`
      - -analyzeduration 1000000
      - -probesize 2000000
      + -analyzeduration 8000000
      + -probesize 16000000
    `);
  });

  test('[M-15] h264_nvenc gets its options', () => {
    expect(changes(encodedBy('libx264'), encodedBy('h264_nvenc'))).toBe(`
      - -c:v libx264
      - -preset veryfast
      - -tune zerolatency
      - -crf 23
      - -sc_threshold 0
      + -c:v h264_nvenc
      + -preset p2
      + -tune ll
      + -rc vbr
      + -cq 23
      + -b:v 0
      + -zerolatency 1
      + -no-scenecut 1
      + -forced-idr 1
    `);
    expect(changes(encodedBy('h264_nvenc'), encodedBy('h264_nvenc', 'p6'))).toBe(`
      - -preset p2
      + -preset p6
    `);
  });

  test('[M-15] h264_qsv gets its options', () => {
    expect(changes(encodedBy('libx264'), encodedBy('h264_qsv'))).toBe(`
      -   [v0s]fps=30/1[v0]
      - -c:v libx264
      - -tune zerolatency
      - -crf 23
      - -sc_threshold 0
      +   [v0s]format=nv12,
      +   fps=30/1[v0]
      + -c:v h264_qsv
      + -async_depth 1
      + -b:v 4996960
      + -forced_idr 1
    `);
  });

  test('[M-15] h264_vaapi gets its options', () => {
    expect(changes(encodedBy('libx264'), encodedBy('h264_vaapi'))).toBe(`
      -   [v0s]fps=30/1[v0]
      - -c:v libx264
      - -preset veryfast
      - -tune zerolatency
      - -crf 23
      - -sc_threshold 0
      + -vaapi_device /dev/dri/renderD128
      +   [v0s]format=nv12,hwupload,
      +   fps=30/1[v0]
      + -c:v h264_vaapi
      + -async_depth 1
      + -rc_mode VBR
      + -b:v 4996960
    `);
  });

  test('[M-15] h264_videotoolbox gets its options', () => {
    expect(changes(encodedBy('libx264'), encodedBy('h264_videotoolbox'))).toBe(`
      - -c:v libx264
      - -preset veryfast
      - -tune zerolatency
      - -crf 23
      - -sc_threshold 0
      + -c:v h264_videotoolbox
      + -realtime 1
      + -allow_sw 1
      + -b:v 4996960
    `);
  });

  test('[M-15] unknown encoder and empty preset get the common options', () => {
    expect(changes(encodedBy('libx264'), encodedBy('libopenh264'))).toBe(`
      - -c:v libx264
      - -preset veryfast
      - -tune zerolatency
      - -crf 23
      - -sc_threshold 0
      + -c:v libopenh264
      + -b:v 4996960
    `);
    expect(changes(encodedBy('libx264'), encodedBy('libx264', ''))).toBe(`
      - -preset veryfast
    `);
  });

  test('[M-14] segment and fragment durations set the key frame distance and rates', () => {
    const settings = { ...SETTINGS, segmentMs: 2000, fragmentMs: 250 };
    expect(changes(OBS, { ...OBS, settings })).toBe(`
      - -maxrate 6662613
      - -bufsize 3331306
      - -g 30
      - -force_key_frames expr:not(mod(n,30))
      - -frag_duration 500000
      - -maxrate 2352969
      - -bufsize 1176484
      - -g 30
      - -force_key_frames expr:not(mod(n,30))
      - -frag_duration 500000
      - -maxrate 1278947
      - -bufsize 639473
      - -g 30
      - -force_key_frames expr:not(mod(n,30))
      - -frag_duration 500000
      + -maxrate 7993344
      + -bufsize 3996672
      + -g 60
      + -force_key_frames expr:not(mod(n,60))
      + -frag_duration 250000
      + -maxrate 2821771
      + -bufsize 1410885
      + -g 60
      + -force_key_frames expr:not(mod(n,60))
      + -frag_duration 250000
      + -maxrate 1532944
      + -bufsize 766472
      + -g 60
      + -force_key_frames expr:not(mod(n,60))
      + -frag_duration 250000
    `);
  });
});

describe('timestamp offset', () => {
  const offset = (container: EncoderOptions['container'], startMs: number) => {
    const args = encoderArguments({ ...OBS, container, startMs });
    const index = args.indexOf('-itsoffset');
    return index < 0 ? null : args[index + 1];
  };

  test('[M-12] transport stream gets an offset for each wrap of 26.5 h', () => {
    const wrapMs = 2 ** 33 / 90;
    expect(offset('mpegts', 90_000_000)).toBeNull();
    expect(offset('mpegts', wrapMs + 1)).toBe('95443.717689');
    expect(offset('mpegts', 2 * wrapMs + 1)).toBe('190887.435378');
  });

  test('[M-12] the offset applies from one minute before the wrap', () => {
    const wrapMs = 2 ** 33 / 90;
    expect(offset('mpegts', wrapMs - 61_000)).toBeNull();
    expect(offset('mpegts', wrapMs - 59_000)).toBe('95443.717689');
  });

  test('[M-12] FLV wraps after 49.7 days, Matroska never', () => {
    expect(offset('flv', 2 ** 32 + 5)).toBe('4294967.296000');
    expect(offset('matroska', 2 ** 40)).toBeNull();
  });
});

describe('rendition', () => {
  test('[M-11] key frame distance is a whole number of frames', () => {
    expect(framesPerSegment(FULL_HD, 1000)).toBe(30);
    expect(framesPerSegment({ ...FULL_HD, frameRate: [30_000, 1_001] }, 1000)).toBe(30);
    expect(framesPerSegment({ ...FULL_HD, frameRate: [60_000, 1_001] }, 500)).toBe(30);
    expect(framesPerSegment({ ...FULL_HD, frameRate: [1, 1] }, 500)).toBe(1);
  });

  test('[M-10] rate, full buffer and boxes stay within the bit rate of the rendition', () => {
    const anyOptions = fc.record({
      bandwidth: fc.integer({ min: 200_000, max: 20_000_000 }),
      segmentMs: fc.integer({ min: 500, max: 10_000 }),
      fragmentMs: fc.integer({ min: 200, max: 1_000 }),
    });
    fc.assert(
      fc.property(anyOptions, ({ bandwidth, segmentMs, fragmentMs }) => {
        const options = { ...OBS, settings: { ...SETTINGS, segmentMs, fragmentMs } };
        const { maxBitsPerS, bufferBits } = encoderRate(options, bandwidth);
        const boxes = (1000 / fragmentMs) * 140 * 8 + 30 * 16 * 8;
        const segmentBits = (maxBitsPerS + boxes) * (segmentMs / 1000) + bufferBits;
        expect(segmentBits).toBeLessThanOrEqual(bandwidth * (segmentMs / 1000) + 2);
        expect(maxBitsPerS).toBeGreaterThan(bandwidth / 4);
      }),
    );
  });
});

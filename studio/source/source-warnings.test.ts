import { expect, test } from 'bun:test';
import type { SourceHealth } from '../../protocol/ingest.ts';
import { sourceWarnings } from './source-warnings.ts';

const GOOD = {
  ...{ bitrate: 4e6, fps: 30, speed: 1, dropped: 0, width: 1280, height: 720 },
  ...{ hasAudio: true, keyFrameIntervalMs: 2_000 },
};

const warningsOf = (fields: Partial<SourceHealth>) =>
  sourceWarnings({ kind: 'rtmp', health: { ...GOOD, ...fields } });

test('[M-34] a good source has no warnings, and neither has one that is not measured yet', () => {
  expect(sourceWarnings({ kind: 'rtmp', health: null })).toEqual([]);
  expect(warningsOf({})).toEqual([]);
  expect(warningsOf({ width: 1366, height: 768 })).toEqual([]);
  const unknown = { width: null, height: null, hasAudio: null, keyFrameIntervalMs: null };
  expect(warningsOf({ ...unknown, speed: null })).toEqual([]);
});

test.each([
  [{ speed: 0.9 }, 'The encoder is too slow. Use a lower resolution or a faster machine.'],
  [{ hasAudio: false }, 'No sound. Check the microphone of the source.'],
  [{ keyFrameIntervalMs: 9_700 }, 'No key frame for 10 s. Set the keyframe interval to 2 s.'],
  [{ width: 640, height: 480 }, 'The video is 640 × 480, not 16:9. Viewers see black bars.'],
  [{ width: 720, height: 1280 }, 'The video is upright. Viewers with wide screens see black bars.'],
])('[M-34] a source with %j has a warning', (fields, warning) => {
  expect(warningsOf(fields)).toEqual([warning]);
});

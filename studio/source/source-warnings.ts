import type { Ingest, SourceHealth } from '../../protocol/ingest.ts';
import { texts } from './texts.ts';

/** An encoder below this multiple of real time falls behind. */
const SPEED_MIN = 0.97;
const ASPECT_RATIO = 16 / 9;
/** Cameras with 1366 × 768 and the like count as 16:9. */
const ASPECT_TOLERANCE = 0.02;
/** After a lost packet the picture is broken until the next key frame. */
const KEY_FRAME_INTERVAL_MAX_MS = 5_000;

/** Whether the encoder of the service cannot keep up with a source. */
export function isTooSlow(health: SourceHealth | null): boolean {
  return health !== null && health.speed !== null && health.speed < SPEED_MIN;
}

/** What a producer should mend in a source before the show, most important first. */
export function sourceWarnings({ kind, health }: NonNullable<Ingest['source']>): string[] {
  if (!health) return [];
  const { width, height, hasAudio, keyFrameIntervalMs } = health;
  const warnings: string[] = [];
  if (isTooSlow(health)) {
    warnings.push(texts.warnings.tooSlow);
  }
  if (hasAudio === false) warnings.push(texts.warnings.noSound);
  // A browser decides itself when it sends key frames, and a file has those that it has.
  const canSetKeyFrames = kind === 'rtmp' || kind === 'srt';
  if (
    canSetKeyFrames &&
    keyFrameIntervalMs !== null &&
    keyFrameIntervalMs > KEY_FRAME_INTERVAL_MAX_MS
  ) {
    const seconds = Math.round(keyFrameIntervalMs / 1_000);
    warnings.push(texts.warnings.fewKeyFrames(seconds));
  }
  if (width !== null && height !== null) {
    const aspectRatio = width / height;
    if (aspectRatio < 1) {
      warnings.push(texts.warnings.upright);
    } else if (Math.abs(aspectRatio / ASPECT_RATIO - 1) > ASPECT_TOLERANCE) {
      warnings.push(texts.warnings.aspectRatio(width, height));
    }
  }
  return warnings;
}

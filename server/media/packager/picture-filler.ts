import type { SourceUnit } from '../container/container.ts';

/** Duration of audio without video after which the video has stopped; senders interleave them. */
export const MISSING_MS = 1_000;
/** Time from one repetition to the next. */
export const REPEAT_MS = 500;
/** Of a larger group of pictures the key frame alone is repeated. */
export const GROUP_BYTES_MAX = 4 << 20;

/** Whether another repetition may be made now. It is asked for each one that is due by the audio. */
export type RepetitionLimit = () => boolean;

/**
 * Repeats the last picture while the video of a source is stopped and its audio goes on, as with a
 * phone whose app is in the background. Otherwise no segment would become complete.
 *
 * Sends the last group of pictures again, all at the time that the audio has reached. The decoder shows its last
 * picture, and has the state in which frames without a key frame can follow.
 */
export interface PictureFiller {
  /** @returns the units, and repeated pictures between them */
  fill(units: readonly SourceUnit[]): SourceUnit[];
}

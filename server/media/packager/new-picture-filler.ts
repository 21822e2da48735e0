import { RateMeter } from '../rate-meter.ts';
import type { Container } from '../source.ts';
import { FlvPictureFiller } from './flv-picture-filler.ts';
import { MatroskaPictureFiller } from './matroska-picture-filler.ts';
import { MpegTsPictureFiller } from './mpegts-picture-filler.ts';
import { type PictureFiller, REPEAT_MS } from './picture-filler.ts';

const FILLERS = {
  flv: FlvPictureFiller,
  mpegts: MpegTsPictureFiller,
  matroska: MatroskaPictureFiller,
} as const;

/** Most repetitions a second: twice those of a source in real time, for jitter of the network. */
const REPETITIONS_PER_S_MAX = 2_000 / REPEAT_MS;

/**
 * The picture filler of a container. Limits repetitions by arrival, because the times of the audio are
 * the sender's: 27 KB of audio that jumped made 6 GB of pictures.
 * @param nowMs current time
 */
export function newPictureFiller(container: Container, nowMs: () => number): PictureFiller {
  const rate = new RateMeter(REPETITIONS_PER_S_MAX);
  return new FILLERS[container](() => !rate.exceeds(1, nowMs()));
}

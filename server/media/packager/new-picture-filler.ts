import type { Container } from '../source.ts';
import { FlvPictureFiller } from './flv-picture-filler.ts';
import { MatroskaPictureFiller } from './matroska-picture-filler.ts';
import { MpegTsPictureFiller } from './mpegts-picture-filler.ts';
import type { PictureFiller } from './picture-filler.ts';

const FILLERS = {
  flv: FlvPictureFiller,
  mpegts: MpegTsPictureFiller,
  matroska: MatroskaPictureFiller,
} as const;

/** The picture filler of a container. */
export function newPictureFiller(container: Container): PictureFiller {
  return new FILLERS[container]();
}

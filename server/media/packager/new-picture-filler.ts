import type { Container } from '../source.ts';
import { FlvPictureFiller } from './flv-picture-filler.ts';
import { MpegTsPictureFiller } from './mpegts-picture-filler.ts';
import type { PictureFiller } from './picture-filler.ts';

/** The picture filler of a container; null when its missing video is not filled. */
export function newPictureFiller(container: Container): PictureFiller | null {
  if (container === 'flv') return new FlvPictureFiller();
  return container === 'mpegts' ? new MpegTsPictureFiller() : null;
}

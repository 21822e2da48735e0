import { ByteQueue, joined } from '../byte-queue.ts';
import { type Box, boxAt, boxes, boxHead, fourCharacters, int64, uint8, uint32 } from './box.ts';
import { codecOf } from './codec.ts';
import type { Fragment, InitSegment } from './fragment.ts';

/** A second of the largest rendition takes 2.4 MB; what is larger than this is no fragment. */
const MAX_BOX_BYTES = 32 * 1024 * 1024;
/** `moov` and `moof` take some hundred bytes, and some for each sample. */
const MAX_META_BYTES = 1024 * 1024;

/** What a run of an encoder writes for a track: first its init segment, then fragments. */
export type Fmp4Item =
  | { readonly kind: 'init'; readonly init: InitSegment }
  | { readonly kind: 'fragment'; readonly fragment: Fragment };

/** What fragments leave out when it is the same for all. */
interface Defaults {
  readonly isAudio: boolean;
  readonly durationTicks: number;
  readonly flags: number;
}

/** What is known of a fragment from its `moof`. */
type Timing = Omit<Fragment, 'bytes'>;

/** Follows one output of ffmpeg's mp4 muxer (`-movflags +cmaf+frag_discont`) with one track. */
export class Fmp4Reader {
  private readonly queue = new ByteQueue();
  private ftyp: Uint8Array = new Uint8Array(0);
  private defaults: Defaults | null = null;
  private moof: { readonly bytes: Uint8Array; readonly timing: Timing } | null = null;

  /**
   * @param bytes the next of them, in chunks of any size
   * @returns what is whole now
   * @throws Error when this is no fragmented MP4 with one track; nothing can be read after it
   */
  push(bytes: Uint8Array): Fmp4Item[] {
    this.queue.push(bytes);
    const items: Fmp4Item[] = [];
    for (let box = this.nextBox(); box; box = this.nextBox()) {
      const item = this.take(box);
      if (item) items.push(item);
    }
    return items;
  }

  private nextBox(): Uint8Array | null {
    const waiting = this.queue.peek();
    const head = boxHead(waiting, 0, waiting.length);
    if (!head) return null;
    const { type, headBytes, totalBytes } = head;
    const most = type === 'moov' || type === 'moof' ? MAX_META_BYTES : MAX_BOX_BYTES;
    if (totalBytes < headBytes || totalBytes > most || !/^[\x20-\x7e]{4}$/.test(type)) {
      throw new Error('the encoder wrote no fragmented MP4');
    }
    return waiting.length < totalBytes ? null : this.queue.take(totalBytes);
  }

  private take(bytes: Uint8Array): Fmp4Item | null {
    const type = fourCharacters(bytes, 4);
    if (this.moof && type !== 'mdat') throw new Error(`the encoder wrote ${type} after moof`);
    switch (type) {
      case 'ftyp':
        this.ftyp = bytes;
        return null;
      case 'moov':
        return { kind: 'init', init: this.takeMoov(bytes) };
      case 'moof':
        if (!this.defaults) throw new Error('the encoder wrote a fragment before its moov');
        this.moof = { bytes, timing: timingOf(bytes, this.defaults) };
        return null;
      case 'mdat':
        return this.takeMdat(bytes);
      default:
        // styp, sidx, prft, free, mfra: nothing that we pass on.
        return null;
    }
  }

  private takeMoov(bytes: Uint8Array): InitSegment {
    const moov = theBox(bytes);
    const mdia = boxAt(bytes, moov, 'trak', 'mdia');
    const timescale = timescaleOf(bytes, boxAt(bytes, mdia, 'mdhd'));
    const codec = codecOf(bytes, boxAt(bytes, mdia, 'minf', 'stbl', 'stsd'));
    const trex = boxAt(bytes, moov, 'mvex', 'trex').content;
    this.defaults = {
      isAudio: fourCharacters(bytes, boxAt(bytes, mdia, 'hdlr').content + 8) === 'soun',
      durationTicks: uint32(bytes, trex + 12),
      flags: uint32(bytes, trex + 20),
    };
    return { bytes: joined([this.ftyp, bytes]), timescale, codec };
  }

  private takeMdat(mdat: Uint8Array): Fmp4Item {
    if (!this.moof) throw new Error('the encoder wrote mdat without moof');
    const { bytes, timing } = this.moof;
    this.moof = null;
    return { kind: 'fragment', fragment: { bytes: joined([bytes, mdat]), ...timing } };
  }
}

function timescaleOf(bytes: Uint8Array, mdhd: Box): number {
  const timescale = uint32(bytes, mdhd.content + (uint8(bytes, mdhd.content) === 1 ? 20 : 12));
  if (timescale === 0) throw new Error('this is no MP4: a timescale is 0');
  return timescale;
}

function timingOf(bytes: Uint8Array, fallback: Defaults): Timing {
  const moof = theBox(bytes);
  const trafs = [...boxes(bytes, moof.content, moof.end)].filter(({ type }) => type === 'traf');
  const [traf] = trafs;
  if (!traf || trafs.length > 1) throw new Error('a fragment must be of one track');
  const defaults = fragmentDefaults(bytes, boxAt(bytes, traf, 'tfhd'), fallback);
  let durationTicks = 0;
  let firstFlags: number | null = null;
  for (const box of boxes(bytes, traf.content, traf.end)) {
    if (box.type !== 'trun') continue;
    const run = readRun(bytes, box, defaults);
    durationTicks += run.durationTicks;
    firstFlags ??= run.firstFlags;
  }
  return {
    startTicks: decodeTime(bytes, boxAt(bytes, traf, 'tfdt')),
    durationTicks,
    isSync: defaults.isAudio || (firstFlags !== null && (firstFlags & NON_SYNC) === 0),
  };
}

/** Of sample flags: `sample_is_non_sync_sample` (ISO/IEC 14496-12, 8.8.3.1). */
const NON_SYNC = 0x1_0000;

/** Of a `tfhd`: which fields it has (ISO/IEC 14496-12, 8.8.7.1). */
const TFHD = { baseDataOffset: 0x01, description: 0x02, duration: 0x08, size: 0x10, flags: 0x20 };

function fragmentDefaults(bytes: Uint8Array, tfhd: Box, fallback: Defaults): Defaults {
  const fields = uint32(bytes, tfhd.content) & 0xff_ffff;
  // It would be a place in a file, and what we serve is not that file.
  if (fields & TFHD.baseDataOffset) throw new Error('a fragment must have no base data offset');
  let at = tfhd.content + 8;
  if (fields & TFHD.description) at += 4;
  let { durationTicks, flags } = fallback;
  if (fields & TFHD.duration) {
    durationTicks = uint32(bytes, at);
    at += 4;
  }
  if (fields & TFHD.size) at += 4;
  if (fields & TFHD.flags) flags = uint32(bytes, at);
  return { isAudio: fallback.isAudio, durationTicks, flags };
}

/** Of a `trun`: which fields it has (ISO/IEC 14496-12, 8.8.8.1). */
const TRUN = {
  dataOffset: 0x01,
  firstFlags: 0x04,
  duration: 0x100,
  size: 0x200,
  flags: 0x400,
  composition: 0x800,
};

interface Run {
  readonly durationTicks: number;
  /** The flags of its first sample; null without a sample. */
  readonly firstFlags: number | null;
}

function readRun(bytes: Uint8Array, trun: Box, defaults: Defaults): Run {
  const fields = uint32(bytes, trun.content) & 0xff_ffff;
  const count = uint32(bytes, trun.content + 4);
  let at = trun.content + 8;
  if (fields & TRUN.dataOffset) at += 4;
  let firstFlags = defaults.flags;
  if (fields & TRUN.firstFlags) {
    firstFlags = uint32(bytes, at);
    at += 4;
  }
  const perSample = [TRUN.duration, TRUN.size, TRUN.flags, TRUN.composition];
  const stride = 4 * perSample.filter((field) => fields & field).length;
  if (at + count * stride > trun.end) throw new Error('this is no MP4: trun is too short');
  if (count > 0 && fields & TRUN.flags && !(fields & TRUN.firstFlags)) {
    const before = perSample.slice(0, 2).filter((field) => fields & field).length;
    firstFlags = uint32(bytes, at + 4 * before);
  }
  let durationTicks = 0;
  if (fields & TRUN.duration) {
    for (let i = 0; i < count; i++) durationTicks += uint32(bytes, at + i * stride);
  } else {
    durationTicks = count * defaults.durationTicks;
  }
  return { durationTicks, firstFlags: count > 0 ? firstFlags : null };
}

function decodeTime(bytes: Uint8Array, tfdt: Box): number {
  const at = tfdt.content + 4;
  return uint8(bytes, tfdt.content) === 1 ? int64(bytes, at) : uint32(bytes, at);
}

/** The box that these bytes are. */
function theBox(bytes: Uint8Array): Box {
  const [box] = boxes(bytes, 0, bytes.length);
  if (!box) throw new Error('this is no MP4: it is empty');
  return box;
}

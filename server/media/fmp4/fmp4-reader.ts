import { ByteQueue, concatBytes } from '../byte-queue.ts';
import {
  type Box,
  boxes,
  int64,
  readBoxHeader,
  readFourCc,
  requireBox,
  uint8,
  uint32,
} from './box.ts';
import { codecOf } from './codec.ts';
import type { Fragment, InitSegment } from './fragment.ts';

/** Limit of a box. A second of the largest rendition takes 2.4 MB. */
const BOX_BYTES_MAX = 32 * 1024 * 1024;
/** Limit of `moov` and `moof`, which take some hundred bytes, and a few for each sample. */
const METADATA_BOX_BYTES_MAX = 1024 * 1024;

/** Output of an encoder for one track: first the init segment, then fragments. */
export type Fmp4Item =
  | { readonly kind: 'init'; readonly init: InitSegment }
  | { readonly kind: 'fragment'; readonly fragment: Fragment };

/** Default sample properties, which fragments may omit. */
interface SampleDefaults {
  readonly isAudio: boolean;
  readonly durationTicks: number;
  readonly flags: number;
}

/** The properties of a fragment in its `moof`. */
type FragmentTiming = Omit<Fragment, 'bytes'>;

/** Parses the output of ffmpeg's mp4 muxer (`-movflags +cmaf+frag_discont`) for one track. */
export class Fmp4Reader {
  private readonly queue = new ByteQueue();
  private ftyp: Uint8Array = new Uint8Array(0);
  private defaults: SampleDefaults | null = null;
  private moof: { readonly bytes: Uint8Array; readonly timing: FragmentTiming } | null = null;

  /**
   * @param bytes the next chunk, of any size
   * @returns the items that are complete now
   * @throws Error when this is no fragmented MP4 with one track; the reader is unusable afterwards
   */
  push(bytes: Uint8Array): Fmp4Item[] {
    this.queue.push(bytes);
    const items: Fmp4Item[] = [];
    for (let box = this.nextBox(); box; box = this.nextBox()) {
      const item = this.readBox(box);
      if (item) items.push(item);
    }
    return items;
  }

  private nextBox(): Uint8Array | null {
    const buffered = this.queue.peek();
    const header = readBoxHeader(buffered, 0, buffered.length);
    if (!header) return null;
    const { type, headerBytes, totalBytes } = header;
    const maxBytes = type === 'moov' || type === 'moof' ? METADATA_BOX_BYTES_MAX : BOX_BYTES_MAX;
    if (totalBytes < headerBytes || totalBytes > maxBytes || !/^[\x20-\x7e]{4}$/.test(type)) {
      throw new Error('the encoder wrote no fragmented MP4');
    }
    return buffered.length < totalBytes ? null : this.queue.take(totalBytes);
  }

  private readBox(bytes: Uint8Array): Fmp4Item | null {
    const type = readFourCc(bytes, 4);
    if (this.moof && type !== 'mdat') throw new Error(`the encoder wrote ${type} after moof`);
    switch (type) {
      case 'ftyp':
        this.ftyp = bytes;
        return null;
      case 'moov':
        return { kind: 'init', init: this.readMoov(bytes) };
      case 'moof':
        if (!this.defaults) throw new Error('the encoder wrote a fragment before its moov');
        this.moof = { bytes, timing: timingOf(bytes, this.defaults) };
        return null;
      case 'mdat':
        return this.readMdat(bytes);
      default:
        // styp, sidx, prft, free and mfra are dropped.
        return null;
    }
  }

  private readMoov(bytes: Uint8Array): InitSegment {
    const moov = firstBox(bytes);
    const mdia = requireBox(bytes, moov, 'trak', 'mdia');
    const timescale = timescaleOf(bytes, requireBox(bytes, mdia, 'mdhd'));
    const codec = codecOf(bytes, requireBox(bytes, mdia, 'minf', 'stbl', 'stsd'));
    const trex = requireBox(bytes, moov, 'mvex', 'trex').contentStart;
    this.defaults = {
      isAudio: readFourCc(bytes, requireBox(bytes, mdia, 'hdlr').contentStart + 8) === 'soun',
      durationTicks: uint32(bytes, trex + 12),
      flags: uint32(bytes, trex + 20),
    };
    return { bytes: concatBytes([this.ftyp, bytes]), timescale, codec };
  }

  private readMdat(mdat: Uint8Array): Fmp4Item {
    if (!this.moof) throw new Error('the encoder wrote mdat without moof');
    const { bytes, timing } = this.moof;
    this.moof = null;
    return { kind: 'fragment', fragment: { bytes: concatBytes([bytes, mdat]), ...timing } };
  }
}

function timescaleOf(bytes: Uint8Array, mdhd: Box): number {
  const offset = uint8(bytes, mdhd.contentStart) === 1 ? 20 : 12;
  const timescale = uint32(bytes, mdhd.contentStart + offset);
  if (timescale === 0) throw new Error('invalid MP4: a timescale is 0');
  return timescale;
}

function timingOf(bytes: Uint8Array, fallback: SampleDefaults): FragmentTiming {
  const moof = firstBox(bytes);
  const trafs = [...boxes(bytes, moof.contentStart, moof.end)].filter(
    ({ type }) => type === 'traf',
  );
  const [traf] = trafs;
  if (!traf || trafs.length > 1) throw new Error('a fragment must be of one track');
  const defaults = fragmentDefaults(bytes, requireBox(bytes, traf, 'tfhd'), fallback);
  let durationTicks = 0;
  let firstFlags: number | null = null;
  for (const box of boxes(bytes, traf.contentStart, traf.end)) {
    if (box.type !== 'trun') continue;
    const run = readRun(bytes, box, defaults);
    durationTicks += run.durationTicks;
    firstFlags ??= run.firstFlags;
  }
  return {
    startTicks: decodeTime(bytes, requireBox(bytes, traf, 'tfdt')),
    durationTicks,
    isSync: defaults.isAudio || (firstFlags !== null && (firstFlags & NON_SYNC_FLAG) === 0),
  };
}

/** The sample flag `sample_is_non_sync_sample` (ISO/IEC 14496-12, 8.8.3.1). */
const NON_SYNC_FLAG = 0x1_0000;

/** Flags of a `tfhd`: the fields that it has (ISO/IEC 14496-12, 8.8.7.1). */
const TFHD_FLAGS = {
  baseDataOffset: 0x01,
  description: 0x02,
  duration: 0x08,
  size: 0x10,
  flags: 0x20,
};

function fragmentDefaults(bytes: Uint8Array, tfhd: Box, fallback: SampleDefaults): SampleDefaults {
  const fields = uint32(bytes, tfhd.contentStart) & 0xff_ffff;
  // A base data offset counts from the start of a file; fragments are served without one.
  if (fields & TFHD_FLAGS.baseDataOffset)
    throw new Error('a fragment must have no base data offset');
  let offset = tfhd.contentStart + 8;
  if (fields & TFHD_FLAGS.description) offset += 4;
  let { durationTicks, flags } = fallback;
  if (fields & TFHD_FLAGS.duration) {
    durationTicks = uint32(bytes, offset);
    offset += 4;
  }
  if (fields & TFHD_FLAGS.size) offset += 4;
  if (fields & TFHD_FLAGS.flags) flags = uint32(bytes, offset);
  return { isAudio: fallback.isAudio, durationTicks, flags };
}

/** Flags of a `trun`: the fields that it has (ISO/IEC 14496-12, 8.8.8.1). */
const TRUN_FLAGS = {
  dataOffset: 0x01,
  firstFlags: 0x04,
  duration: 0x100,
  size: 0x200,
  flags: 0x400,
  composition: 0x800,
};

interface TrackRun {
  readonly durationTicks: number;
  /** Flags of the first sample; null without samples. */
  readonly firstFlags: number | null;
}

function readRun(bytes: Uint8Array, trun: Box, defaults: SampleDefaults): TrackRun {
  const fields = uint32(bytes, trun.contentStart) & 0xff_ffff;
  const count = uint32(bytes, trun.contentStart + 4);
  let offset = trun.contentStart + 8;
  if (fields & TRUN_FLAGS.dataOffset) offset += 4;
  let firstFlags = defaults.flags;
  if (fields & TRUN_FLAGS.firstFlags) {
    firstFlags = uint32(bytes, offset);
    offset += 4;
  }
  const { duration, size, flags, composition } = TRUN_FLAGS;
  const perSample = [duration, size, flags, composition];
  const stride = 4 * perSample.filter((field) => fields & field).length;
  if (offset + count * stride > trun.end) throw new Error('invalid MP4: trun is too short');
  if (count > 0 && fields & flags && !(fields & TRUN_FLAGS.firstFlags)) {
    const before = perSample.slice(0, 2).filter((field) => fields & field).length;
    firstFlags = uint32(bytes, offset + 4 * before);
  }
  let durationTicks = 0;
  if (fields & duration) {
    for (let i = 0; i < count; i++) durationTicks += uint32(bytes, offset + i * stride);
  } else {
    durationTicks = count * defaults.durationTicks;
  }
  return { durationTicks, firstFlags: count > 0 ? firstFlags : null };
}

function decodeTime(bytes: Uint8Array, tfdt: Box): number {
  const offset = tfdt.contentStart + 4;
  return uint8(bytes, tfdt.contentStart) === 1 ? int64(bytes, offset) : uint32(bytes, offset);
}

function firstBox(bytes: Uint8Array): Box {
  const [box] = boxes(bytes, 0, bytes.length);
  if (!box) throw new Error('invalid MP4: no box found');
  return box;
}

// Parser of time and codec boxes of CMAF tracks (ISO/IEC 14496-12). Shares no code with the service.

/** Properties of an init segment. */
export interface InitFacts {
  readonly kind: 'video' | 'audio';
  readonly timescale: number;
  /** Codec by RFC 6381. */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  /** Whether an edit list moves presentation time away from `tfdt`. */
  readonly isShifted: boolean;
  readonly defaultDuration: number;
  readonly defaultFlags: number;
}

/** Properties of a fragment: a `moof` and `mdat`. */
export interface FragmentFacts {
  readonly sequence: number;
  /** Decode time of the first sample, in ticks. */
  readonly decodeTime: number;
  readonly durations: readonly number[];
  readonly isSync: boolean;
  readonly hasShift: boolean;
}

/** Properties of a segment: the fragments combined. */
export interface SegmentFacts {
  readonly startTicks: number;
  readonly durationTicks: number;
  readonly isSync: boolean;
  readonly sequences: readonly number[];
  /** Largest gap between successive fragments, in ticks. */
  readonly maxGapTicks: number;
  /** Whether a sample has a composition time offset. */
  readonly hasShift: boolean;
  readonly samples: number;
}

interface Box {
  readonly type: string;
  readonly body: DataView;
}

const NOT_SYNC = 0x1_0000;

/** Parses an init segment. @throws Error when it is not one with a single track */
export function readInit(bytes: Uint8Array): InitFacts {
  const top = readBoxes(viewOf(bytes));
  if (top[0]?.type !== 'ftyp') throw new Error('the init segment does not start with ftyp');
  const moov = childBoxes(top, 'moov');
  const tracks = moov.filter(({ type }) => type === 'trak');
  const [track] = tracks;
  if (!track || tracks.length !== 1)
    throw new Error('the init segment does not have exactly one track');
  const trak = readBoxes(track.body);
  const mdia = childBoxes(trak, 'mdia');
  const mdhd = find(mdia, 'mdhd');
  const hdlr = find(mdia, 'hdlr');
  const trex = find(childBoxes(moov, 'mvex'), 'trex');
  const stsd = find(childBoxes(childBoxes(mdia, 'minf'), 'stbl'), 'stsd');
  const tkhd = find(trak, 'tkhd');
  return {
    kind: text(hdlr, 8) === 'vide' ? 'video' : 'audio',
    timescale: mdhd.getUint32(mdhd.getUint8(0) === 1 ? 20 : 12),
    codec: readCodec(stsd),
    width: tkhd.getUint32(tkhd.byteLength - 8) >>> 16,
    height: tkhd.getUint32(tkhd.byteLength - 4) >>> 16,
    isShifted: trak.some(({ type, body }) => type === 'edts' && hasEditShift(body)),
    defaultDuration: trex.getUint32(12),
    defaultFlags: trex.getUint32(20),
  };
}

/** Parses a segment. @throws Error when it does not consist of one or more complete fragments */
export function readSegment(bytes: Uint8Array, init: InitFacts): SegmentFacts {
  const boxes = readBoxes(viewOf(bytes)).filter(({ type }) => type !== 'styp');
  const fragments: FragmentFacts[] = [];
  for (let i = 0; i < boxes.length; i += 2) {
    const [moof, mdat] = boxes.slice(i, i + 2);
    if (moof?.type !== 'moof' || mdat?.type !== 'mdat')
      throw new Error('expected moof followed by mdat');
    fragments.push(readFragment(moof.body, mdat.body.byteLength, init));
  }
  const [first] = fragments;
  if (!first) throw new Error('the segment has no fragment');
  let endTicks = first.decodeTime;
  let maxGapTicks = 0;
  for (const { decodeTime, durations } of fragments) {
    if (Math.abs(decodeTime - endTicks) > Math.abs(maxGapTicks))
      maxGapTicks = decodeTime - endTicks;
    endTicks = decodeTime + sum(durations);
  }
  return {
    startTicks: first.decodeTime,
    durationTicks: endTicks - first.decodeTime,
    isSync: first.isSync,
    sequences: fragments.map(({ sequence }) => sequence),
    maxGapTicks,
    hasShift: fragments.some(({ hasShift }) => hasShift),
    samples: sum(fragments.map(({ durations }) => durations.length)),
  };
}

function readFragment(moof: DataView, dataBytes: number, init: InitFacts): FragmentFacts {
  const boxes = readBoxes(moof);
  const traf = childBoxes(boxes, 'traf');
  const tfhd = readDefaults(find(traf, 'tfhd'), init);
  const tfdt = find(traf, 'tfdt');
  if (tfdt.getUint8(0) !== 1) throw new Error('tfdt must have 64 bits for Unix time');
  const runs = traf
    .filter(({ type }) => type === 'trun')
    .map(({ body }) => readSamples(body, tfhd));
  const samples = runs.flat();
  if (sum(samples.map(({ size }) => size)) !== dataBytes)
    throw new Error('mdat and samples differ in size');
  return {
    sequence: find(boxes, 'mfhd').getUint32(4),
    decodeTime: Number(tfdt.getBigUint64(4)),
    durations: samples.map(({ duration }) => duration),
    isSync: ((samples[0]?.flags ?? NOT_SYNC) & NOT_SYNC) === 0,
    hasShift: samples.some(({ shift }) => shift !== 0),
  };
}

interface Defaults {
  readonly duration: number;
  readonly size: number;
  readonly flags: number;
}

function readDefaults(tfhd: DataView, init: InitFacts): Defaults {
  const flags = tfhd.getUint32(0);
  let offset = 8;
  const readField = (flag: number, bytes: number, fallback: number) => {
    if (!(flags & flag)) return fallback;
    offset += bytes;
    return tfhd.getUint32(offset - 4);
  };
  readField(0x01, 8, 0);
  readField(0x02, 4, 0);
  return {
    duration: readField(0x08, 4, init.defaultDuration),
    size: readField(0x10, 4, 0),
    flags: readField(0x20, 4, init.defaultFlags),
  };
}

function readSamples(trun: DataView, defaults: Defaults) {
  const flags = trun.getUint32(0);
  const count = trun.getUint32(4);
  let offset = 8 + (flags & 0x01 ? 4 : 0);
  const firstFlags = flags & 0x04 ? trun.getUint32(offset) : null;
  if (firstFlags !== null) offset += 4;
  const readField = (flag: number, fallback: number) => {
    if (!(flags & flag)) return fallback;
    offset += 4;
    return trun.getUint32(offset - 4);
  };
  return Array.from({ length: count }, (_, i) => ({
    duration: readField(0x100, defaults.duration),
    size: readField(0x200, defaults.size),
    flags: readField(0x400, (i === 0 ? firstFlags : null) ?? defaults.flags),
    shift: readField(0x800, 0),
  }));
}

function readCodec(stsd: DataView): string {
  const [entry] = readBoxes(subview(stsd, 8));
  if (!entry) throw new Error('stsd is empty');
  if (entry.type === 'avc1') {
    const avcC = find(readBoxes(subview(entry.body, 78)), 'avcC');
    const hex = [1, 2, 3].map((offset) => avcC.getUint8(offset).toString(16).padStart(2, '0'));
    return `avc1.${hex.join('')}`;
  }
  return entry.type === 'mp4a' ? 'mp4a.40.2' : entry.type;
}

// A single edit that starts at media time 0 shifts nothing.
function hasEditShift(edts: DataView): boolean {
  const elst = find(readBoxes(edts), 'elst');
  const isLong = elst.getUint8(0) === 1;
  if (elst.getUint32(4) !== 1) return elst.getUint32(4) > 1;
  return isLong ? elst.getBigInt64(16) !== 0n : elst.getInt32(12) !== 0;
}

function readBoxes(view: DataView): Box[] {
  const boxes: Box[] = [];
  for (let offset = 0; offset < view.byteLength; ) {
    if (view.byteLength - offset < 8) throw new Error('a box header is truncated');
    const size = view.getUint32(offset);
    if (size < 8 || offset + size > view.byteLength) throw new Error('a box exceeds its parent');
    boxes.push({ type: text(view, offset + 4), body: subview(view, offset + 8, size - 8) });
    offset += size;
  }
  return boxes;
}

function find(boxes: readonly Box[], type: string): DataView {
  const box = boxes.find((candidate) => candidate.type === type);
  if (!box) throw new Error(`${type} is missing`);
  return box.body;
}

function childBoxes(boxes: readonly Box[], type: string): Box[] {
  return readBoxes(find(boxes, type));
}

function subview(view: DataView, from: number, length = view.byteLength - from): DataView {
  return new DataView(view.buffer, view.byteOffset + from, length);
}

function text(view: DataView, offset: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(offset + i)));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

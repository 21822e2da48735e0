// Reads what ISO/IEC 14496-12 says of time in a CMAF track. It shares no code with the service.

/** What an init segment says. */
export interface InitFacts {
  readonly kind: 'video' | 'audio';
  readonly timescale: number;
  /** As in RFC 6381. */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  /** Whether an edit list moves presentation time away from `tfdt`. */
  readonly isShifted: boolean;
  readonly defaultDuration: number;
  readonly defaultFlags: number;
}

/** A `moof` and `mdat`. */
export interface FragmentFacts {
  readonly sequence: number;
  /** Of its first sample, in ticks. */
  readonly decodeTime: number;
  readonly durations: readonly number[];
  readonly isSync: boolean;
  readonly hasShift: boolean;
}

/** What the fragments of a segment say together. */
export interface SegmentFacts {
  readonly startTicks: number;
  readonly durationTicks: number;
  readonly isSync: boolean;
  readonly sequences: readonly number[];
  /** Ticks between a fragment's end and the next one's start, the largest. */
  readonly hole: number;
  /** A sample is shown at another time than it is decoded. */
  readonly hasShift: boolean;
  readonly samples: number;
}

interface Box {
  readonly type: string;
  readonly body: DataView;
}

const NOT_SYNC = 0x1_0000;

/** @throws Error when it is no init segment with one track */
export function readInit(bytes: Uint8Array): InitFacts {
  const top = boxesIn(viewOf(bytes));
  if (top[0]?.type !== 'ftyp') throw new Error('an init segment begins with ftyp');
  const moov = inner(top, 'moov');
  const tracks = moov.filter(({ type }) => type === 'trak');
  const [track] = tracks;
  if (!track || tracks.length !== 1) throw new Error('an init segment has one track');
  const trak = boxesIn(track.body);
  const mdia = inner(trak, 'mdia');
  const mdhd = find(mdia, 'mdhd');
  const hdlr = find(mdia, 'hdlr');
  const trex = find(inner(moov, 'mvex'), 'trex');
  const stsd = find(inner(inner(mdia, 'minf'), 'stbl'), 'stsd');
  const tkhd = find(trak, 'tkhd');
  return {
    kind: text(hdlr, 8) === 'vide' ? 'video' : 'audio',
    timescale: mdhd.getUint32(mdhd.getUint8(0) === 1 ? 20 : 12),
    codec: codecIn(stsd),
    width: tkhd.getUint32(tkhd.byteLength - 8) >>> 16,
    height: tkhd.getUint32(tkhd.byteLength - 4) >>> 16,
    isShifted: trak.some(({ type, body }) => type === 'edts' && shiftIn(body)),
    defaultDuration: trex.getUint32(12),
    defaultFlags: trex.getUint32(20),
  };
}

/** @throws Error when it is not whole fragments, one or more */
export function readSegment(bytes: Uint8Array, init: InitFacts): SegmentFacts {
  const boxes = boxesIn(viewOf(bytes)).filter(({ type }) => type !== 'styp');
  const fragments: FragmentFacts[] = [];
  for (let i = 0; i < boxes.length; i += 2) {
    const [moof, mdat] = boxes.slice(i, i + 2);
    if (moof?.type !== 'moof' || mdat?.type !== 'mdat') throw new Error('moof and mdat take turns');
    fragments.push(readFragment(moof.body, mdat.body.byteLength, init));
  }
  const [first] = fragments;
  if (!first) throw new Error('a segment has a fragment');
  let endTicks = first.decodeTime;
  let hole = 0;
  for (const { decodeTime, durations } of fragments) {
    if (Math.abs(decodeTime - endTicks) > Math.abs(hole)) hole = decodeTime - endTicks;
    endTicks = decodeTime + sum(durations);
  }
  return {
    startTicks: first.decodeTime,
    durationTicks: endTicks - first.decodeTime,
    isSync: first.isSync,
    sequences: fragments.map(({ sequence }) => sequence),
    hole,
    hasShift: fragments.some(({ hasShift }) => hasShift),
    samples: sum(fragments.map(({ durations }) => durations.length)),
  };
}

function readFragment(moof: DataView, dataBytes: number, init: InitFacts): FragmentFacts {
  const boxes = boxesIn(moof);
  const traf = inner(boxes, 'traf');
  const tfhd = headerIn(find(traf, 'tfhd'), init);
  const tfdt = find(traf, 'tfdt');
  if (tfdt.getUint8(0) !== 1) throw new Error('tfdt has 64 bits: Unix time needs them');
  const runs = traf.filter(({ type }) => type === 'trun').map(({ body }) => samplesIn(body, tfhd));
  const samples = runs.flat();
  if (sum(samples.map(({ size }) => size)) !== dataBytes) throw new Error('mdat is its samples');
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

function headerIn(tfhd: DataView, init: InitFacts): Defaults {
  const flags = tfhd.getUint32(0);
  let at = 8;
  const next = (flag: number, bytes: number, otherwise: number) => {
    if (!(flags & flag)) return otherwise;
    at += bytes;
    return tfhd.getUint32(at - 4);
  };
  next(0x01, 8, 0);
  next(0x02, 4, 0);
  return {
    duration: next(0x08, 4, init.defaultDuration),
    size: next(0x10, 4, 0),
    flags: next(0x20, 4, init.defaultFlags),
  };
}

function samplesIn(trun: DataView, defaults: Defaults) {
  const flags = trun.getUint32(0);
  const count = trun.getUint32(4);
  let at = 8 + (flags & 0x01 ? 4 : 0);
  const firstFlags = flags & 0x04 ? trun.getUint32(at) : null;
  if (firstFlags !== null) at += 4;
  const next = (flag: number, otherwise: number) => {
    if (!(flags & flag)) return otherwise;
    at += 4;
    return trun.getUint32(at - 4);
  };
  return Array.from({ length: count }, (_, i) => ({
    duration: next(0x100, defaults.duration),
    size: next(0x200, defaults.size),
    flags: next(0x400, (i === 0 ? firstFlags : null) ?? defaults.flags),
    shift: next(0x800, 0),
  }));
}

function codecIn(stsd: DataView): string {
  const [entry] = boxesIn(rest(stsd, 8));
  if (!entry) throw new Error('stsd has an entry');
  if (entry.type === 'avc1') {
    const avcC = find(boxesIn(rest(entry.body, 78)), 'avcC');
    const hex = [1, 2, 3].map((at) => avcC.getUint8(at).toString(16).padStart(2, '0'));
    return `avc1.${hex.join('')}`;
  }
  return entry.type === 'mp4a' ? 'mp4a.40.2' : entry.type;
}

// An edit that begins at media time 0, at once, moves nothing.
function shiftIn(edts: DataView): boolean {
  const elst = find(boxesIn(edts), 'elst');
  const isLong = elst.getUint8(0) === 1;
  if (elst.getUint32(4) !== 1) return elst.getUint32(4) > 1;
  return isLong ? elst.getBigInt64(16) !== 0n : elst.getInt32(12) !== 0;
}

function boxesIn(view: DataView): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < view.byteLength; ) {
    if (view.byteLength - at < 8) throw new Error('a box has a head');
    const size = view.getUint32(at);
    if (size < 8 || at + size > view.byteLength) throw new Error('a box fits where it is');
    boxes.push({ type: text(view, at + 4), body: rest(view, at + 8, size - 8) });
    at += size;
  }
  return boxes;
}

function find(boxes: readonly Box[], type: string): DataView {
  const box = boxes.find((one) => one.type === type);
  if (!box) throw new Error(`${type} is missing`);
  return box.body;
}

function inner(boxes: readonly Box[], type: string): Box[] {
  return boxesIn(find(boxes, type));
}

function rest(view: DataView, from: number, length = view.byteLength - from): DataView {
  return new DataView(view.buffer, view.byteOffset + from, length);
}

function text(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

import { ByteQueue, joined } from '../byte-queue.ts';
import type { ContainerReader, SourceUnit } from './container.ts';
import { type ElementHead, elementHead, elements, unsigned, vint, vintLength } from './ebml.ts';
import {
  DEFAULT_SCALE_NS,
  type MatroskaTracks,
  readTimestampScale,
  readTracks,
} from './matroska-tracks.ts';

/** Ids of RFC 9559, with their marker bits. */
const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  referenceBlock: 0xfb,
} as const;

/** A key frame of 4K takes a few MB. */
const MAX_ELEMENT_BYTES = 16 * 1024 * 1024;
/** Everything before the first cluster: some hundred bytes, or some kB of tags. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
/** It has ten elements or so; each takes more memory than its bytes. */
const MAX_HEADER_ELEMENTS = 1_000;
/** What may be in a cluster before its first picture: its time, and some blocks of sound. */
const MAX_HELD_BYTES = 64 * 1024;
/**
 * How many blocks of sound are held at the start of a cluster until its first picture tells whether
 * one can join there: half a second, as browsers send sound in blocks of 60 ms.
 */
const MAX_HELD_BLOCKS = 8;

/** A few are between two blocks; each costs more time than its bytes tell. */
const MAX_IDLE_ELEMENTS = 1_000;

const NO_MATROSKA = 'this is no WebM/Matroska';
/** Id and size of a segment whose end is not known. */
const ENDLESS_SEGMENT = Uint8Array.of(0x18, 0x53, 0x80, 0x67, 1, 255, 255, 255, 255, 255, 255, 255);

/** What a block says of itself. */
interface Block {
  readonly track: number;
  readonly sourceMs: number | null;
  readonly isKey: boolean;
}

/** The beginning of a cluster. */
interface Held {
  readonly pieces: Uint8Array[];
  byteLength: number;
  blocks: number;
  /** Of its first block. */
  sourceMs: number | null;
}

/**
 * Follows WebM and other Matroska, files as well as what a browser records live (RFC 9559). Units are
 * blocks; the first of a cluster begins with the cluster's head, and with the sound before its first
 * picture.
 */
export class MatroskaReader implements ContainerReader {
  private readonly queue = new ByteQueue();
  private headers: Uint8Array[] = [];
  private headerBytes = 0;
  private hasSegment = false;
  private scaleNs = DEFAULT_SCALE_NS;
  private tracks: MatroskaTracks = { video: null, delaysNs: new Map() };
  private state: 'start' | 'header' | 'clusters' = 'start';
  private clusterTicks: number | null = null;
  /** The beginning of a cluster, until it is clear whether one can join here; null after that. */
  private held: Held | null = null;
  /** Since the last block. */
  private elements = 0;

  push(bytes: Uint8Array): SourceUnit[] {
    this.queue.push(bytes);
    const units: SourceUnit[] = [];
    try {
      for (let head = this.nextHead(); head; head = this.nextHead()) {
        const unit = this.take(head);
        if (unit === 'incomplete') break;
        if (++this.elements > MAX_IDLE_ELEMENTS) throw new Error('it has elements and no blocks');
        if (unit) units.push(unit);
      }
    } catch (error) {
      throw new Error(`${NO_MATROSKA}: ${(error as Error).message}`);
    }
    return units;
  }

  header(): Uint8Array {
    return joined(this.headers);
  }

  private nextHead(): ElementHead | null {
    const waiting = this.queue.peek();
    const head = elementHead(waiting, 0);
    if (this.state === 'start' && waiting.length >= 4 && unsigned(waiting, 0, 4) !== ID.ebml) {
      throw new Error('it does not begin like one');
    }
    return head;
  }

  private take(head: ElementHead): SourceUnit | null | 'incomplete' {
    if (head.id === ID.segment) return this.takeSegment(head);
    if (head.id === ID.cluster) return this.takeCluster(head);
    const { contentBytes, headBytes } = head;
    if (contentBytes === null || contentBytes > MAX_ELEMENT_BYTES) {
      throw new Error('an element is too large');
    }
    const isHeader = this.state !== 'clusters';
    if (isHeader) this.boundHeader(headBytes + contentBytes);
    if (this.queue.length < headBytes + contentBytes) return 'incomplete';
    const bytes = this.queue.take(headBytes + contentBytes);
    if (isHeader) return this.takeHeader(head, bytes);
    if (head.id === ID.simpleBlock) return this.takeBlock(bytes, this.readBlock(bytes, headBytes));
    if (head.id === ID.blockGroup) return this.takeBlock(bytes, this.readGroup(bytes, headBytes));
    return this.takeOther(head, bytes);
  }

  private takeHeader(head: ElementHead, bytes: Uint8Array): SourceUnit {
    if ((this.state === 'start') !== (head.id === ID.ebml)) throw new Error('it begins wrongly');
    if (this.state === 'start') requireDocType(bytes, head.headBytes);
    if (head.id === ID.info) this.scaleNs = readTimestampScale(bytes, head.headBytes);
    if (head.id === ID.tracks) this.tracks = readTracks(bytes, head.headBytes);
    this.state = 'header';
    this.keepHeader(bytes);
    return { bytes, isHeader: true, isJoin: false, sourceMs: null };
  }

  private takeSegment(head: ElementHead): SourceUnit {
    if (this.state !== 'header' || this.hasSegment) {
      throw new Error('a segment is out of place; connect again for another recording');
    }
    // A decoder that begins in the middle must not count on where the segment was to end.
    this.keepHeader(ENDLESS_SEGMENT);
    this.hasSegment = true;
    const bytes = this.queue.take(head.headBytes);
    return { bytes, isHeader: true, isJoin: false, sourceMs: null };
  }

  private takeCluster(head: ElementHead): SourceUnit | null {
    if (!this.hasSegment) throw new Error('a cluster is out of place');
    this.state = 'clusters';
    const before = this.release(false);
    this.clusterTicks = null;
    const bytes = this.queue.take(head.headBytes);
    this.held = { pieces: [bytes], byteLength: bytes.length, blocks: 0, sourceMs: null };
    return before;
  }

  private takeOther(head: ElementHead, bytes: Uint8Array): SourceUnit | null {
    if (head.id === ID.ebml)
      throw new Error('it begins twice; connect again for another recording');
    if (head.id === ID.timestamp) {
      this.clusterTicks = unsigned(bytes, head.headBytes, bytes.length);
    }
    if (!this.held) return { bytes, isHeader: false, isJoin: false, sourceMs: null };
    return this.hold(this.held, bytes);
  }

  private takeBlock(bytes: Uint8Array, block: Block): SourceUnit | null {
    const { held } = this;
    const { sourceMs } = block;
    this.elements = 0;
    if (!held) return { bytes, isHeader: false, isJoin: false, sourceMs };
    held.sourceMs ??= sourceMs;
    held.blocks++;
    const { video } = this.tracks;
    if (video !== null && block.track !== video) return this.hold(held, bytes);
    held.pieces.push(bytes);
    return this.release(block.isKey);
  }

  private hold(held: Held, bytes: Uint8Array): SourceUnit | null {
    held.pieces.push(bytes);
    held.byteLength += bytes.length;
    const isFull = held.blocks >= MAX_HELD_BLOCKS || held.byteLength > MAX_HELD_BYTES;
    return isFull ? this.release(false) : null;
  }

  private release(isJoin: boolean): SourceUnit | null {
    const { held } = this;
    this.held = null;
    return held && { bytes: joined(held.pieces), isHeader: false, isJoin, sourceMs: held.sourceMs };
  }

  private readGroup(bytes: Uint8Array, start: number): Block {
    let block: Block | null = null;
    let isKey = true;
    for (const element of elements(bytes, start, bytes.length)) {
      if (element.id === ID.block) block ??= this.readBlock(bytes, element.start);
      if (element.id === ID.referenceBlock) isKey = false;
    }
    if (!block) throw new Error('a block group has no block');
    return { ...block, isKey };
  }

  private readBlock(bytes: Uint8Array, start: number): Block {
    const length = vintLength(bytes[start], 8);
    const flags = length === null ? undefined : bytes[start + length + 2];
    if (length === null || flags === undefined) throw new Error('a block is too short');
    const track = vint(bytes, start, length);
    const at = start + length;
    const relative = (unsigned(bytes, at, at + 2) << 16) >> 16;
    return { track, sourceMs: this.sourceMs(track, relative), isKey: (flags & 0x80) !== 0 };
  }

  /** As ffmpeg reads it: in ticks, with the delay of the codec taken off. */
  private sourceMs(track: number, relativeTicks: number): number | null {
    if (this.clusterTicks === null) return null;
    const delayTicks = Math.round((this.tracks.delaysNs.get(track) ?? 0) / this.scaleNs);
    return ((this.clusterTicks + relativeTicks - delayTicks) * this.scaleNs) / 1_000_000;
  }

  private keepHeader(bytes: Uint8Array): void {
    this.headers.push(bytes);
    this.headerBytes += bytes.length;
  }

  private boundHeader(moreBytes: number): void {
    const isTooMany = this.headers.length >= MAX_HEADER_ELEMENTS;
    if (isTooMany || this.headerBytes + moreBytes > MAX_HEADER_BYTES) {
      throw new Error('its header is too large');
    }
  }
}

function requireDocType(bytes: Uint8Array, start: number): void {
  for (const { id, start: from, end } of elements(bytes, start, bytes.length)) {
    if (id !== ID.docType) continue;
    const type = new TextDecoder().decode(bytes.subarray(from, end)).replace(/\0+$/, '');
    if (type !== 'webm' && type !== 'matroska') throw new Error(`it is ${JSON.stringify(type)}`);
  }
}

import { ByteQueue, concatBytes } from '../byte-queue.ts';
import type { ContainerReader, SourceUnit } from './container.ts';
import {
  type ElementHeader,
  elements,
  readElementHeader,
  readUnsigned,
  readVint,
  vintLength,
} from './ebml.ts';
import { MATROSKA_ID as ID } from './matroska-ids.ts';
import {
  DEFAULT_SCALE_NS,
  type MatroskaTracks,
  readTimestampScale,
  readTracks,
} from './matroska-tracks.ts';
import { ReceivedMedia } from './received-media.ts';

/** A key frame of 4K takes a few MB. */
const MAX_ELEMENT_BYTES = 16 * 1024 * 1024;
/** Everything before the first cluster: some hundred bytes, or a few kB with tags. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
/** Headers have about ten elements; each takes more memory than its bytes. */
const MAX_HEADER_ELEMENTS = 1_000;
/** Bytes of a cluster before its first video block: its timestamp and some audio blocks. */
const MAX_CLUSTER_START_BYTES = 64 * 1024;
/**
 * Audio blocks that are buffered at the start of a cluster until its first video block decides
 * whether the cluster is an entry point: half a second, at 60 ms per block as in browsers.
 */
const MAX_CLUSTER_START_BLOCKS = 8;

/** Elements between two blocks; usually a few. Limits CPU time per received byte. */
const MAX_ELEMENTS_BETWEEN_BLOCKS = 1_000;

const NOT_MATROSKA = 'this is not WebM/Matroska';
const UNKNOWN_SIZE_SEGMENT = Uint8Array.from([
  0x18, 0x53, 0x80, 0x67, 1, 255, 255, 255, 255, 255, 255, 255,
]);

interface Block {
  readonly track: number;
  readonly sourceMs: number | null;
  readonly isKey: boolean;
}

/** The start of a cluster, buffered until its first video block. */
interface ClusterStart {
  readonly pieces: Uint8Array[];
  byteLength: number;
  blocks: number;
  /** Time of its first block. */
  sourceMs: number | null;
}

/**
 * Reads WebM and other Matroska, from files and from live recordings of browsers (RFC 9559). Each
 * block is a unit; the first of a cluster includes the cluster's header and the audio before its
 * first video block.
 */
export class MatroskaReader implements ContainerReader {
  private readonly queue = new ByteQueue();
  private headers: Uint8Array[] = [];
  private headerBytes = 0;
  private hasSegment = false;
  private scaleNs = DEFAULT_SCALE_NS;
  /** The ids of the elements in the header that are read. */
  private readonly headerIds = new Set<number>();
  private tracks: MatroskaTracks = { video: null, audio: new Set(), delaysNs: new Map() };
  private state: 'start' | 'header' | 'clusters' = 'start';
  private clusterTicks: number | null = null;
  /** Start of the current cluster while it is undecided whether it is an entry point; then null. */
  private clusterStart: ClusterStart | null = null;
  private elementsSinceBlock = 0;
  private elementCount = 0;
  readonly received = new ReceivedMedia();

  push(bytes: Uint8Array): SourceUnit[] {
    this.queue.push(bytes);
    const units: SourceUnit[] = [];
    try {
      for (let header = this.nextHeader(); header; header = this.nextHeader()) {
        const unit = this.readElement(header);
        if (unit === 'incomplete') break;
        this.elementCount++;
        if (++this.elementsSinceBlock > MAX_ELEMENTS_BETWEEN_BLOCKS)
          throw new Error('too many elements without a block');
        if (unit) units.push(unit);
      }
    } catch (error) {
      throw new Error(`${NOT_MATROSKA}: ${(error as Error).message}`);
    }
    return units;
  }

  takeElementCount(): number {
    const count = this.elementCount;
    this.elementCount = 0;
    return count;
  }

  header(): Uint8Array {
    return concatBytes(this.headers);
  }

  private nextHeader(): ElementHeader | null {
    const buffered = this.queue.peek();
    const header = readElementHeader(buffered, 0);
    if (
      this.state === 'start' &&
      buffered.length >= 4 &&
      readUnsigned(buffered, 0, 4) !== ID.ebml
    ) {
      throw new Error('the EBML header is missing');
    }
    return header;
  }

  private readElement(header: ElementHeader): SourceUnit | null | 'incomplete' {
    if (header.id === ID.segment) return this.startSegment(header);
    if (header.id === ID.cluster) return this.startCluster(header);
    const { contentBytes, headerBytes } = header;
    if (contentBytes === null || contentBytes > MAX_ELEMENT_BYTES) {
      throw new Error('an element is too large');
    }
    const isHeader = this.state !== 'clusters';
    if (isHeader) this.limitHeader(headerBytes + contentBytes);
    if (this.queue.length < headerBytes + contentBytes) return 'incomplete';
    const bytes = this.queue.take(headerBytes + contentBytes);
    if (isHeader) return this.readHeaderElement(header, bytes);
    if (header.id === ID.simpleBlock)
      return this.addBlock(bytes, this.readBlock(bytes, headerBytes));
    if (header.id === ID.blockGroup)
      return this.addBlock(bytes, this.readGroup(bytes, headerBytes));
    return this.readOtherElement(header, bytes);
  }

  private readHeaderElement(header: ElementHeader, bytes: Uint8Array): SourceUnit {
    if ((this.state === 'start') !== (header.id === ID.ebml))
      throw new Error('the EBML header is misplaced');
    if (this.state === 'start') requireDocType(bytes, header.headerBytes);
    if (header.id === ID.info || header.id === ID.tracks) {
      // Each once: the header has room for 160 lists of tracks, with two million elements to parse.
      if (this.headerIds.has(header.id))
        throw new Error('its header has two Info or two Tracks elements');
      this.headerIds.add(header.id);
    }
    if (header.id === ID.info) this.scaleNs = readTimestampScale(bytes, header.headerBytes);
    if (header.id === ID.tracks) this.tracks = readTracks(bytes, header.headerBytes);
    this.state = 'header';
    this.storeHeader(bytes);
    return { bytes, isHeader: true, isEntryPoint: false, sourceMs: null };
  }

  private startSegment(header: ElementHeader): SourceUnit {
    if (this.state !== 'header' || this.hasSegment) {
      throw new Error('unexpected segment; reconnect for another recording');
    }
    // The original size would be wrong for a decoder that starts in the middle.
    this.storeHeader(UNKNOWN_SIZE_SEGMENT);
    this.hasSegment = true;
    const bytes = this.queue.take(header.headerBytes);
    return { bytes, isHeader: true, isEntryPoint: false, sourceMs: null };
  }

  private startCluster(header: ElementHeader): SourceUnit | null {
    if (!this.hasSegment) throw new Error('unexpected cluster');
    this.state = 'clusters';
    const previous = this.flushClusterStart(false);
    this.clusterTicks = null;
    const bytes = this.queue.take(header.headerBytes);
    this.clusterStart = { pieces: [bytes], byteLength: bytes.length, blocks: 0, sourceMs: null };
    return previous;
  }

  private readOtherElement(header: ElementHeader, bytes: Uint8Array): SourceUnit | null {
    if (header.id === ID.ebml)
      throw new Error('a second EBML header; reconnect for another recording');
    if (header.id === ID.timestamp) {
      this.clusterTicks = readUnsigned(bytes, header.headerBytes, bytes.length);
    }
    if (!this.clusterStart) return { bytes, isHeader: false, isEntryPoint: false, sourceMs: null };
    return this.bufferBytes(this.clusterStart, bytes);
  }

  private addBlock(bytes: Uint8Array, block: Block): SourceUnit | null {
    const { clusterStart } = this;
    const { sourceMs } = block;
    this.elementsSinceBlock = 0;
    if (block.track === this.tracks.video) this.received.add('video');
    else if (this.tracks.audio.has(block.track)) this.received.add('audio');
    if (!clusterStart) return { bytes, isHeader: false, isEntryPoint: false, sourceMs };
    clusterStart.sourceMs ??= sourceMs;
    clusterStart.blocks++;
    const { video } = this.tracks;
    if (video !== null && block.track !== video) return this.bufferBytes(clusterStart, bytes);
    clusterStart.pieces.push(bytes);
    return this.flushClusterStart(block.isKey);
  }

  private bufferBytes(clusterStart: ClusterStart, bytes: Uint8Array): SourceUnit | null {
    clusterStart.pieces.push(bytes);
    clusterStart.byteLength += bytes.length;
    const isFull =
      clusterStart.blocks >= MAX_CLUSTER_START_BLOCKS ||
      clusterStart.byteLength > MAX_CLUSTER_START_BYTES;
    return isFull ? this.flushClusterStart(false) : null;
  }

  private flushClusterStart(isEntryPoint: boolean): SourceUnit | null {
    const { clusterStart } = this;
    this.clusterStart = null;
    if (!clusterStart) return null;
    const { pieces, sourceMs } = clusterStart;
    return { bytes: concatBytes(pieces), isHeader: false, isEntryPoint, sourceMs };
  }

  private readGroup(bytes: Uint8Array, start: number): Block {
    let block: Block | null = null;
    let isKey = true;
    for (const element of elements(bytes, start, bytes.length)) {
      this.elementCount++;
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
    const track = readVint(bytes, start, length);
    const at = start + length;
    const relativeTicks = (readUnsigned(bytes, at, at + 2) << 16) >> 16;
    return { track, sourceMs: this.sourceMs(track, relativeTicks), isKey: (flags & 0x80) !== 0 };
  }

  /** Block time as ffmpeg computes it: in ticks, minus the codec delay. */
  private sourceMs(track: number, relativeTicks: number): number | null {
    if (this.clusterTicks === null) return null;
    const delayTicks = Math.round((this.tracks.delaysNs.get(track) ?? 0) / this.scaleNs);
    return ((this.clusterTicks + relativeTicks - delayTicks) * this.scaleNs) / 1_000_000;
  }

  private storeHeader(bytes: Uint8Array): void {
    this.headers.push(bytes);
    this.headerBytes += bytes.length;
  }

  private limitHeader(moreBytes: number): void {
    const hasTooMany = this.headers.length >= MAX_HEADER_ELEMENTS;
    if (hasTooMany || this.headerBytes + moreBytes > MAX_HEADER_BYTES) {
      throw new Error('the header is too large');
    }
  }
}

/** "matroska" is the longest known one; NULs may follow. */
const DOC_TYPE_BYTES_MAX = 64;

function requireDocType(bytes: Uint8Array, start: number): void {
  for (const { id, start: from, end } of elements(bytes, start, bytes.length)) {
    if (id !== ID.docType) continue;
    if (end - from > DOC_TYPE_BYTES_MAX) throw new Error('the document type is too long');
    // Not by a regular expression for NULs at the end, which takes the square of their number.
    const [type] = new TextDecoder().decode(bytes.subarray(from, end)).split('\0', 1);
    if (type !== 'webm' && type !== 'matroska')
      throw new Error(`the document type is ${JSON.stringify(type)}`);
  }
}

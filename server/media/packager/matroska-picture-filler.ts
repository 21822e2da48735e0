import { concatBytes } from '../byte-queue.ts';
import type { SourceUnit } from '../container/container.ts';
import {
  elements,
  readElementHeader,
  readUnsigned,
  readVint,
  vintLength,
} from '../container/ebml.ts';
import { MATROSKA_ID as ID } from '../container/matroska-ids.ts';
import {
  DEFAULT_SCALE_NS,
  type MatroskaTracks,
  readTimestampScale,
  readTracks,
} from '../container/matroska-tracks.ts';
import {
  GROUP_BYTES_MAX,
  MISSING_MS,
  type PictureFiller,
  REPEAT_MS,
  type RepetitionLimit,
} from './picture-filler.ts';

const KEY_FRAME_FLAG = 0x80;
const TIME_BYTES = 2;
const NS_PER_MS = 1_000_000;
/** Of a group with more pictures the key frame alone is repeated: a million empty ones took 1.8 s. */
const PICTURES_MAX = 2_000;

/**
 * Repeats the last group of pictures of a WebM or Matroska source, in a cluster of its own. So that a
 * cluster can be put into another one, the clusters of the source get an unknown size, as browsers write them.
 */
export class MatroskaPictureFiller implements PictureFiller {
  private tracks: MatroskaTracks = { video: null, audio: new Set(), delaysNs: new Map() };
  private ticksPerMs = NS_PER_MS / DEFAULT_SCALE_NS;
  /** Time of the current cluster, in ticks; null before it. */
  private clusterTicks: number | null = null;
  /** Blocks of the video since the last key frame, without their element header. */
  private pictures: Uint8Array[] = [];
  /** Whether there are too many: the first one is kept. */
  private isKeyFrameAlone = false;
  private pictureBytes = 0;
  /** Times of the last picture and of the audio that came before it, in ticks. */
  private videoTicks = 0;
  private audioTicksAtVideo: number | null = null;
  private audioTicks: number | null = null;
  /** Audio time of the next repetition, in ticks. */
  private repeatAtTicks = 0;

  constructor(private readonly mayRepeat: RepetitionLimit) {}

  fill(units: readonly SourceUnit[]): SourceUnit[] {
    return units.flatMap((unit) => {
      if (unit.isHeader) {
        this.readHeader(unit.bytes);
        return [unit];
      }
      const repetition = this.repeatAfter(unit.bytes);
      return repetition ? [unit, repetition] : [unit];
    });
  }

  private readHeader(bytes: Uint8Array): void {
    const header = readElementHeader(bytes, 0);
    if (header?.id === ID.tracks) this.tracks = readTracks(bytes, header.headerBytes);
    if (header?.id === ID.info)
      this.ticksPerMs = NS_PER_MS / readTimestampScale(bytes, header.headerBytes);
  }

  /** Reads the elements of a unit, the first of which may be the header of a cluster. */
  private repeatAfter(bytes: Uint8Array): SourceUnit | null {
    let repetition: SourceUnit | null = null;
    for (let start = 0; start < bytes.length; ) {
      const header = readElementHeader(bytes, start);
      if (!header) break;
      const content = start + header.headerBytes;
      const end = header.id === ID.cluster ? content : content + (header.contentBytes ?? 0);
      if (header.id === ID.cluster) {
        setUnknownSize(bytes, start + 4);
        this.clusterTicks = null;
      } else if (header.id === ID.timestamp) {
        this.clusterTicks = readUnsigned(bytes, content, end);
      } else if (header.id === ID.simpleBlock) {
        repetition = this.addBlock(bytes.slice(content, end)) ?? repetition;
      } else if (header.id === ID.blockGroup) {
        const block = simpleBlockOf(bytes, content, end);
        if (block) repetition = this.addBlock(block) ?? repetition;
      }
      start = end;
    }
    return repetition;
  }

  /** @param block of either kind, with the flags of a SimpleBlock */
  private addBlock(block: Uint8Array): SourceUnit | null {
    const trackBytes = vintLength(block[0], 8);
    if (trackBytes === null || this.clusterTicks === null) return null;
    const track = readVint(block, 0, trackBytes);
    const timeEnd = trackBytes + TIME_BYTES;
    const ticks = this.clusterTicks + ((readUnsigned(block, trackBytes, timeEnd) << 16) >> 16);
    if (this.tracks.audio.has(track)) return this.repeat(ticks, this.clusterTicks);
    if (track !== this.tracks.video) return null;
    // The repetition has the time of its cluster.
    block.fill(0, trackBytes, timeEnd);
    this.addPicture(block, ticks, ((block[timeEnd] ?? 0) & KEY_FRAME_FLAG) !== 0);
    return null;
  }

  private addPicture(block: Uint8Array, ticks: number, isKeyFrame: boolean): void {
    if (isKeyFrame) this.clear();
    this.videoTicks = ticks;
    this.audioTicksAtVideo = this.audioTicks;
    this.repeatAtTicks = (this.audioTicks ?? 0) + MISSING_MS * this.ticksPerMs;
    if (this.isKeyFrameAlone || (!isKeyFrame && this.pictures.length === 0)) return;
    this.pictures.push(block);
    this.pictureBytes += block.length;
    if (this.pictures.length <= PICTURES_MAX && this.pictureBytes <= GROUP_BYTES_MAX) return;
    this.isKeyFrameAlone = true;
    this.pictures = this.pictures.slice(0, 1).filter(({ length }) => length <= GROUP_BYTES_MAX);
  }

  private repeat(audioTicks: number, clusterTicks: number): SourceUnit | null {
    this.audioTicks = audioTicks;
    const { audioTicksAtVideo } = this;
    if (audioTicksAtVideo === null || this.pictures.length === 0) return null;
    const ticks = this.videoTicks + audioTicks - audioTicksAtVideo;
    // A cluster has no time below 0.
    if (ticks < 0 || audioTicks < this.repeatAtTicks || !this.mayRepeat()) return null;
    this.repeatAtTicks = audioTicks + REPEAT_MS * this.ticksPerMs;
    const pieces = [
      clusterHeader(ticks),
      ...this.pictures.flatMap((block) => [simpleBlockHeader(block.length), block]),
      // The following blocks of the source belong to its cluster.
      clusterHeader(clusterTicks),
    ];
    return { bytes: concatBytes(pieces), isHeader: false, isEntryPoint: true, sourceMs: null };
  }

  private clear(): void {
    this.pictures = [];
    this.pictureBytes = 0;
    this.isKeyFrameAlone = false;
  }
}

/** The block of a group, with the flags of a SimpleBlock; null without one. */
function simpleBlockOf(bytes: Uint8Array, start: number, end: number): Uint8Array | null {
  let block: Uint8Array | null = null;
  let isKeyFrame = true;
  for (const element of elements(bytes, start, end)) {
    if (element.id === ID.block) block ??= bytes.slice(element.start, element.end);
    if (element.id === ID.referenceBlock) isKeyFrame = false;
  }
  const trackBytes = block ? vintLength(block[0], 8) : null;
  if (!block || trackBytes === null) return null;
  const flags = trackBytes + TIME_BYTES;
  block[flags] = ((block[flags] ?? 0) & ~KEY_FRAME_FLAG) | (isKeyFrame ? KEY_FRAME_FLAG : 0);
  return block;
}

/** Gives an element an unknown size (RFC 8794, 6.2), in a field of the same length. */
function setUnknownSize(bytes: Uint8Array, at: number): void {
  const length = vintLength(bytes[at], 8) ?? 0;
  bytes[at] = 2 ** (9 - length) - 1;
  bytes.fill(0xff, at + 1, at + length);
}

/** A cluster of unknown size with its time. */
function clusterHeader(ticks: number): Uint8Array {
  const bytes = Buffer.alloc(4 + 8 + 2 + 8);
  bytes.writeUInt32BE(ID.cluster, 0);
  bytes.set([1, 255, 255, 255, 255, 255, 255, 255], 4);
  bytes.set([ID.timestamp, 0x88], 12);
  bytes.writeBigUInt64BE(BigInt(Math.round(ticks)), 14);
  return bytes;
}

/** The header of a SimpleBlock, with a size of eight bytes. */
function simpleBlockHeader(length: number): Uint8Array {
  const bytes = Buffer.alloc(1 + 8);
  bytes[0] = ID.simpleBlock;
  bytes.writeBigUInt64BE((1n << 56n) | BigInt(length), 1);
  return bytes;
}

import { ByteQueue } from '../byte-queue.ts';
import type { SourceUnit } from '../container/container.ts';
import {
  decodingTicks,
  PACKET_BYTES,
  type Packet,
  presentationTicks,
  readPacket,
  setContinuityCounter,
  setPesTicks,
  TICKS_PER_MS,
  ticksBetween,
  WRAP_TICKS,
} from '../container/mpegts-packet.ts';
import { ProgramReader } from '../container/mpegts-program.ts';
import {
  GROUP_BYTES_MAX,
  MISSING_MS,
  type PictureFiller,
  REPEAT_MS,
  type RepetitionLimit,
} from './picture-filler.ts';

/** Of a group with more pictures the key frame alone is repeated: the time of each one is changed. */
const PICTURES_MAX = 2_000;

/**
 * Repeats the last group of pictures of an MPEG-TS source. Its packets are sent again with the time that the
 * audio has reached, without clock references, and with continuity counters that go on.
 */
export class MpegTsPictureFiller implements PictureFiller {
  private readonly program = new ProgramReader();
  /**
   * Packets of the video since the last key frame, as they are repeated. They are contiguous: 4 MB in
   * separate packets took 3 ms or more of each repetition, one copy takes 0.5 ms.
   */
  private readonly group = new ByteQueue();
  /** Where its pictures start, in bytes; the first one is the key frame. */
  private pictureStarts: number[] = [];
  /** Whether there are too many packets or pictures: the key frame is kept. */
  private isKeyFrameAlone = false;
  /** Times of the last picture and of the audio that came before it, in ticks. */
  private videoTicks = 0;
  private audioTicksAtVideo: number | null = null;
  private audioTicks: number | null = null;
  /** Audio time of the next repetition, in ticks. */
  private repeatAtTicks = 0;
  /** Counter of the last video packet sent, and what repetitions add to those of the source. */
  private counter = 0;
  private counterOffset = 0;

  constructor(private readonly mayRepeat: RepetitionLimit) {}

  fill(units: readonly SourceUnit[]): SourceUnit[] {
    return units.flatMap((unit) => {
      if (unit.isHeader) {
        this.program.push(unit.bytes);
        return [unit];
      }
      const repetition = this.repeatAfter(unit);
      return repetition ? [unit, repetition] : [unit];
    });
  }

  private repeatAfter({ bytes, isEntryPoint }: SourceUnit): SourceUnit | null {
    const { streams } = this.program;
    if (streams === null || streams.video === null) return null;
    let repetition: SourceUnit | null = null;
    for (let start = 0; start + PACKET_BYTES <= bytes.length; start += PACKET_BYTES) {
      const bytesOfPacket = bytes.subarray(start, start + PACKET_BYTES);
      const packet = readPacket(bytesOfPacket);
      if (packet.pid === streams.video) {
        this.addVideo(bytesOfPacket, packet, isEntryPoint && start === 0);
      } else if (packet.startsPayloadUnit && streams.audio.has(packet.pid)) {
        const ticks = presentationTicks(bytesOfPacket, packet.content);
        if (ticks !== null) repetition = this.repeat(ticks) ?? repetition;
      }
    }
    return repetition;
  }

  private addVideo(bytes: Uint8Array, packet: Packet, isKeyFrame: boolean): void {
    this.counter = ((bytes[3] ?? 0) + this.counterOffset) & 0x0f;
    setContinuityCounter(bytes, this.counter);
    if (isKeyFrame) this.clear();
    const ticks = packet.startsPayloadUnit ? decodingTicks(bytes, packet.content) : null;
    if (ticks !== null) {
      this.videoTicks = ticks;
      this.audioTicksAtVideo = this.audioTicks;
      this.repeatAtTicks = ((this.audioTicks ?? 0) + MISSING_MS * TICKS_PER_MS) % WRAP_TICKS;
    }
    if (this.isKeyFrameAlone || (!isKeyFrame && this.group.length === 0)) return;
    // Without a payload it has only a clock reference and stuffing.
    if (packet.content === PACKET_BYTES) return;
    if (packet.startsPayloadUnit) this.pictureStarts.push(this.group.length);
    const repeated = bytes.slice();
    removeClock(repeated);
    this.group.push(repeated);
    const isTooLarge =
      this.group.length > GROUP_BYTES_MAX || this.pictureStarts.length > PICTURES_MAX;
    if (isTooLarge) this.keepKeyFrame();
  }

  private clear(): void {
    this.group.drop(this.group.length);
    this.pictureStarts = [];
    this.isKeyFrameAlone = false;
  }

  /** Keeps the key frame alone, or nothing while it is not complete. */
  private keepKeyFrame(): void {
    const [first = 0, end = first] = this.pictureStarts;
    const keyFrame = this.group.take(end);
    this.clear();
    this.group.push(keyFrame);
    this.pictureStarts = [first];
    this.isKeyFrameAlone = true;
  }

  private repeat(audioTicks: number): SourceUnit | null {
    this.audioTicks = audioTicks;
    const { audioTicksAtVideo } = this;
    if (audioTicksAtVideo === null || this.group.length === 0) return null;
    if (ticksBetween(this.repeatAtTicks, audioTicks) < 0 || !this.mayRepeat()) return null;
    this.repeatAtTicks = (audioTicks + REPEAT_MS * TICKS_PER_MS) % WRAP_TICKS;
    const ticks = this.videoTicks + ticksBetween(audioTicksAtVideo, audioTicks);
    return { bytes: this.repeated(ticks), isHeader: false, isEntryPoint: true, sourceMs: null };
  }

  private repeated(ticks: number): Uint8Array {
    const bytes = this.group.peek().slice();
    const before = this.counter;
    for (let start = 0; start < bytes.length; start += PACKET_BYTES) {
      this.counter = (this.counter + 1) & 0x0f;
      setContinuityCounter(bytes, this.counter, start);
    }
    this.counterOffset += this.counter - before;
    for (const start of this.pictureStarts) {
      const packet = bytes.subarray(start, start + PACKET_BYTES);
      setPesTicks(packet, readPacket(packet).content, ticks);
    }
    return bytes;
  }
}

/** Leaves only the random access indicator of an adaptation field; the rest counts as stuffing. */
function removeClock(bytes: Uint8Array): void {
  const hasAdaptation = ((bytes[3] ?? 0) & 0x20) !== 0;
  if (hasAdaptation && (bytes[4] ?? 0) > 0) bytes[5] = (bytes[5] ?? 0) & 0x40;
}

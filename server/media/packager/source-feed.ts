import type { SourceUnit } from '../container/container.ts';

/** Accepts units: an encoder. */
interface UnitSink {
  /** @returns false to apply back pressure */
  write(bytes: Uint8Array): boolean;
}

/**
 * Feeds a source's units to one encoder after another. Buffers them until the first encoder starts.
 * An encoder that starts mid-stream gets the headers and the units from the next entry point on.
 */
export class SourceFeed {
  private buffered: SourceUnit[] = [];
  private bufferedUnitBytes = 0;
  private sink: UnitSink | null = null;
  private isSynced = true;
  private onSwitch: ((startMs: number | null) => void) | null = null;

  /** @param header the headers that a decoder needs first */
  constructor(private readonly header: () => Uint8Array) {}

  /** @returns false to apply back pressure */
  push(unit: SourceUnit): boolean {
    if (unit.isEntryPoint && this.onSwitch && this.isFlowing()) this.switch(unit.sourceMs);
    if (!this.sink) {
      this.bufferUnit(unit);
      return true;
    }
    if (this.sink === DISCARD || (!this.isSynced && !unit.isEntryPoint)) return true;
    if (!this.isSynced) this.sink.write(this.header());
    this.isSynced = true;
    return this.sink.write(unit.bytes);
  }

  /** Flushes the buffered units to the sink, then feeds it. For the first encoder, after the probe. */
  startWithBuffered(sink: UnitSink): void {
    const { buffered } = this;
    this.clearBuffer();
    this.sink = sink;
    for (const unit of buffered) this.push(unit);
  }

  /**
   * Ends the sink's input before the next entry point. From there on, units are buffered for the next
   * sink, so that none is lost. A discontinuity or another sink cancels this.
   * @param onSwitch called at that point with its source time
   */
  switchAtNextEntryPoint(onSwitch: (startMs: number | null) => void): void {
    this.onSwitch = onSwitch;
  }

  /** Drops what is buffered, and buffers units from the next entry point on. */
  bufferFromNextEntryPoint(): void {
    this.clearBuffer();
    this.sink = null;
    this.isSynced = false;
  }

  /** Marks a discontinuity: drops units until `startAtNextEntryPoint`. */
  markDiscontinuity(): void {
    this.onSwitch = null;
    this.clearBuffer();
    this.isSynced = false;
    if (this.sink) this.sink = DISCARD;
  }

  /** Feeds the sink from the next entry point on, after the headers. */
  startAtNextEntryPoint(sink: UnitSink): void {
    this.onSwitch = null;
    this.clearBuffer();
    this.sink = sink;
    this.isSynced = false;
  }

  /** Drops all units until a sink is set. */
  discard(): void {
    this.sink = DISCARD;
  }

  /** Whether units reach a sink now. */
  isFlowing(): boolean {
    return this.sink !== null && this.sink !== DISCARD && this.isSynced;
  }

  bufferedBytes(): number {
    return this.bufferedUnitBytes;
  }

  private switch(startMs: number | null): void {
    const { onSwitch } = this;
    this.onSwitch = null;
    this.bufferFromNextEntryPoint();
    onSwitch?.(startMs);
  }

  private bufferUnit(unit: SourceUnit): void {
    this.buffered.push(unit);
    this.bufferedUnitBytes += unit.bytes.byteLength + UNIT_OVERHEAD_BYTES;
  }

  private clearBuffer(): void {
    this.buffered = [];
    this.bufferedUnitBytes = 0;
  }
}

// Memory of a unit besides its bytes.
export const UNIT_OVERHEAD_BYTES = 256;

const DISCARD: UnitSink = { write: () => true };

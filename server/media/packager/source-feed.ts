import type { SourceUnit } from '../container/container.ts';

/** Where units go: a probe, an encoder. */
interface Taker {
  /** @returns false when it wants no more for now */
  write(bytes: Uint8Array): boolean;
}

/**
 * A source's units on their way into encoders that come and go. While there is none they are held;
 * one that begins in the middle gets the headers and what comes from the next join on.
 */
export class SourceFeed {
  private held: SourceUnit[] = [];
  private bytesHeld = 0;
  private taker: Taker | null = null;
  private isJoined = true;

  /** @param header what a decoder that begins now is given first */
  constructor(private readonly header: () => Uint8Array) {}

  /** @returns false when no more is wanted for now */
  push(unit: SourceUnit): boolean {
    if (!this.taker) {
      this.hold(unit);
      return true;
    }
    if (this.taker === LOST || (!this.isJoined && !unit.isJoin)) return true;
    if (!this.isJoined) this.taker.write(this.header());
    this.isJoined = true;
    return this.taker.write(unit.bytes);
  }

  /** What is held goes to this one first. For the first encoder, after the probe. */
  begin(taker: Taker): void {
    const { held } = this;
    this.forget();
    this.taker = taker;
    for (const unit of held) this.push(unit);
  }

  /** What comes next does not follow what came before. */
  cut(): void {
    this.forget();
    this.isJoined = false;
    if (this.taker) this.taker = LOST;
  }

  /** From the next join on everything goes to this one, after the headers. */
  join(taker: Taker): void {
    this.forget();
    this.taker = taker;
    this.isJoined = false;
  }

  /** Nobody takes anything for now, and nothing is held. */
  leave(): void {
    this.taker = LOST;
  }

  /** Whether what comes now goes to somebody. */
  isFlowing(): boolean {
    return this.taker !== null && this.taker !== LOST && this.isJoined;
  }

  heldBytes(): number {
    return this.bytesHeld;
  }

  private hold(unit: SourceUnit): void {
    this.held.push(unit);
    this.bytesHeld += unit.bytes.byteLength + UNIT_BYTES;
  }

  private forget(): void {
    this.held = [];
    this.bytesHeld = 0;
  }
}

// What a unit takes besides its bytes, which may be few.
export const UNIT_BYTES = 256;

const LOST: Taker = { write: () => true };

import type { ContainerReader } from '../container/container.ts';
import type { SourceLink } from './source-link.ts';

// Some seconds of any usual video.
const WAITING_MAX_BYTES = 8 << 20;
const LOOK_MS = 50;
/** After so long without any room, the line is taken for dead. */
export const STALLED_MS = 15_000;

/**
 * Brings an encoder's bytes to whichever link there is. The encoder runs on while there is none, as
 * a camera does: what it makes then is lost, and the next link begins with the headers and the next
 * key frame.
 */
export class Relay {
  private link: SourceLink | null = null;
  private hasJoined = false;
  private sent = 0;

  constructor(private readonly reader: ContainerReader) {}

  /** Bytes sent so far. */
  get sentBytes(): number {
    return this.sent;
  }

  /** From here on, bytes go to this link; null: nowhere. */
  attach(link: SourceLink | null): void {
    this.link = link;
    this.hasJoined = false;
  }

  /** Takes bytes of the encoder, cut anywhere. */
  take(bytes: Uint8Array): void {
    for (const unit of this.reader.push(bytes)) {
      const { link } = this;
      if (!link) continue;
      if (!this.hasJoined) {
        if (!unit.isJoin) continue;
        this.hasJoined = true;
        this.send(link, this.reader.header());
      }
      this.send(link, unit.bytes);
    }
  }

  /**
   * Waits while the link has too much to send, so that the encoder is held back.
   * @returns false when that takes so long that the line is dead
   */
  async room(sleep: (ms: number) => Promise<void>): Promise<boolean> {
    const { link } = this;
    let waitedMs = 0;
    while (this.link === link && link && link.waitingBytes() > WAITING_MAX_BYTES) {
      if (waitedMs >= STALLED_MS) return false;
      await sleep(LOOK_MS);
      waitedMs += LOOK_MS;
    }
    return true;
  }

  private send(link: SourceLink, bytes: Uint8Array): void {
    link.send(bytes);
    this.sent += bytes.length;
  }
}

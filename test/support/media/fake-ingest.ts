import {
  type Ending,
  type Ingest,
  type Refused,
  type SourceEnd,
  type SourceOffer,
  SourceRefused,
  type SourceSession,
} from '../../../server/media/source.ts';

/** A source that was taken, and all that came of it. */
export class FakeSession implements SourceSession {
  readonly closed: Promise<SourceEnd>;
  /** Why the sender left; null while it is there. */
  ended: string | null = null;
  /** false: no more is wanted. */
  wantsMore = true;
  private readonly chunks: Uint8Array[] = [];
  private readonly closing = Promise.withResolvers<SourceEnd>();
  private readonly ending = Promise.withResolvers<string>();
  private draining = Promise.withResolvers<void>();
  private waiting: { bytes: number; resolve: () => void }[] = [];
  bytes = 0;

  constructor(
    readonly streamId: string,
    readonly offer: SourceOffer,
  ) {
    this.closed = this.closing.promise;
  }

  write(bytes: Uint8Array): boolean {
    this.chunks.push(bytes.slice());
    this.bytes += bytes.length;
    for (const wait of this.waiting) if (this.bytes >= wait.bytes) wait.resolve();
    this.waiting = this.waiting.filter((wait) => this.bytes < wait.bytes);
    return this.wantsMore;
  }

  drained(): Promise<void> {
    return this.draining.promise;
  }

  end(reason: string): void {
    if (this.ended !== null) return;
    this.ended = reason;
    this.ending.resolve(reason);
    this.closing.resolve({ why: 'left', line: reason });
  }

  /** More is wanted again. */
  drain(): void {
    this.wantsMore = true;
    this.draining.resolve();
    this.draining = Promise.withResolvers();
  }

  /** The service ends it. */
  close(line: string, why: Ending = 'ended'): void {
    this.closing.resolve({ why, line });
  }

  /** Waits until so many bytes have come. */
  received(bytes: number): Promise<void> {
    if (this.bytes >= bytes) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push({ bytes, resolve });
    return promise;
  }

  /** Waits until the sender is gone, and says why. */
  left(): Promise<string> {
    return this.ending.promise;
  }

  /** Everything that came. */
  content(): Uint8Array {
    return Buffer.concat(this.chunks);
  }
}

/** Takes what listeners bring, one source for each stream, and keeps what came. */
export class FakeIngest implements Ingest {
  readonly offers: SourceOffer[] = [];
  readonly sessions: FakeSession[] = [];
  /** What the next offers are refused with. */
  refusal: Refused | null = null;
  /** What opening fails with, as a defect does. */
  failure: Error | null = null;
  /** Opening waits for it. */
  gate: Promise<void> = Promise.resolve();
  private waiting: ((session: FakeSession) => void)[] = [];

  /** @param streams ids by stream key */
  constructor(private readonly streams: ReadonlyMap<string, string>) {}

  async open(offer: SourceOffer): Promise<SourceSession> {
    this.offers.push(offer);
    await this.gate;
    if (this.failure) throw this.failure;
    if (this.refusal) throw new SourceRefused(this.refusal, `This is refused: ${this.refusal}.`);
    const streamId = this.streams.get(offer.key);
    if (streamId === undefined || (offer.streamId ?? streamId) !== streamId) {
      throw new SourceRefused('unknown-key', 'This is no stream key.');
    }
    if (this.sessions.some((session) => session.streamId === streamId && session.ended === null)) {
      throw new SourceRefused('busy', 'The stream has a source.');
    }
    const session = new FakeSession(streamId, offer);
    this.sessions.push(session);
    for (const resolve of this.waiting.splice(0)) resolve(session);
    return session;
  }

  /** The next source that is taken. */
  next(): Promise<FakeSession> {
    const { promise, resolve } = Promise.withResolvers<FakeSession>();
    this.waiting.push(resolve);
    return promise;
  }
}

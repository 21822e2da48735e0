import {
  type Ingest,
  type RefusalReason,
  type SourceEnd,
  type SourceEndReason,
  SourceRefused,
  type SourceRequest,
  type SourceSession,
} from '../../../server/media/source.ts';

/** An accepted source that records what it receives. */
export class FakeSession implements SourceSession {
  /** Reason of its end; null while it is live. */
  endReason: string | null = null;
  /** Set to false to apply back-pressure. */
  acceptsMore = true;
  private readonly chunks: Uint8Array[] = [];
  private readonly closing = Promise.withResolvers<SourceEnd>();
  readonly closed = this.closing.promise;
  readonly producer: string = 'one account';
  private readonly ending = Promise.withResolvers<string>();
  private draining = Promise.withResolvers<void>();
  private waiting: { bytes: number; resolve: () => void }[] = [];
  bytes = 0;

  constructor(
    readonly streamId: string,
    readonly request: SourceRequest,
  ) {}

  write(bytes: Uint8Array): boolean {
    this.chunks.push(bytes.slice());
    this.bytes += bytes.length;
    for (const wait of this.waiting) if (this.bytes >= wait.bytes) wait.resolve();
    this.waiting = this.waiting.filter((wait) => this.bytes < wait.bytes);
    return this.acceptsMore;
  }

  drained(): Promise<void> {
    return this.acceptsMore ? Promise.resolve() : this.draining.promise;
  }

  end(reason: string): void {
    if (this.endReason !== null) return;
    this.endReason = reason;
    this.ending.resolve(reason);
    this.closing.resolve({ reason: 'left', message: reason });
  }

  /** Ends the back-pressure. */
  drain(): void {
    this.acceptsMore = true;
    this.draining.resolve();
    this.draining = Promise.withResolvers();
  }

  /** Ends the source from the side of the service. */
  close(message: string, reason: SourceEndReason = 'ended'): void {
    this.closing.resolve({ reason, message });
  }

  /** Waits until at least this many bytes were received. */
  waitForBytes(bytes: number): Promise<void> {
    if (this.bytes >= bytes) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push({ bytes, resolve });
    return promise;
  }

  /** Waits for the end of the source. @returns its reason */
  waitForEnd(): Promise<string> {
    return this.ending.promise;
  }

  content(): Uint8Array {
    return Buffer.concat(this.chunks);
  }
}

/** Accepts one source per stream and records it. */
export class FakeIngest implements Ingest {
  readonly requests: SourceRequest[] = [];
  readonly sessions: FakeSession[] = [];
  /** Reason with which later requests are refused; null accepts them. */
  refusal: RefusalReason | null = null;
  /** Unexpected error that opening throws; null for none. */
  failure: Error | null = null;
  /** Opening waits for this promise. */
  gate: Promise<void> = Promise.resolve();
  private waiting: ((session: FakeSession) => void)[] = [];

  /** @param streams ids by stream key */
  constructor(private readonly streams: ReadonlyMap<string, string>) {}

  async open(request: SourceRequest): Promise<SourceSession> {
    this.requests.push(request);
    await this.gate;
    if (this.failure) throw this.failure;
    if (this.refusal) throw new SourceRefused(this.refusal, `Refused: ${this.refusal}.`);
    const streamId = this.streams.get(request.key);
    if (streamId === undefined || (request.streamId ?? streamId) !== streamId) {
      throw new SourceRefused('unknown-key', 'No stream has this key.');
    }
    if (
      this.sessions.some((session) => session.streamId === streamId && session.endReason === null)
    ) {
      throw new SourceRefused('busy', 'The stream has a source.');
    }
    const session = new FakeSession(streamId, request);
    this.sessions.push(session);
    for (const resolve of this.waiting.splice(0)) resolve(session);
    return session;
  }

  /** The next accepted source. */
  next(): Promise<FakeSession> {
    const { promise, resolve } = Promise.withResolvers<FakeSession>();
    this.waiting.push(resolve);
    return promise;
  }
}

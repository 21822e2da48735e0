import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { readAmf } from '../../../server/media/rtmp/amf0.ts';
import { ChunkReader } from '../../../server/media/rtmp/chunk-reader.ts';
import { chunked } from '../../../server/media/rtmp/chunk-writer.ts';
import { HANDSHAKE_BYTES } from '../../../server/media/rtmp/handshake.ts';
import { commandMessage } from '../../../server/media/rtmp/publish-dialog.ts';
import { RTMP_LIMITS, type RtmpLimits } from '../../../server/media/rtmp/rtmp-limits.ts';
import { listenRtmp, type RtmpListener } from '../../../server/media/rtmp/rtmp-listener.ts';
import { COMMAND, type RtmpMessage, VIDEO } from '../../../server/media/rtmp/rtmp-message.ts';
import {
  type Ingest,
  type SourceEnd,
  type SourceOffer,
  SourceRefused,
  type SourceSession,
} from '../../../server/media/source.ts';

const PUBLISHING = 'NetStream.Publish.Start';

/** A source that was taken, for tests: keeps what comes. */
export class TestSession implements SourceSession {
  readonly closed: Promise<SourceEnd>;
  /** How it ended; null while it is alive. */
  ending: string | null = null;
  receivedBytes = 0;
  /** Whether `write` says that it wants no more. */
  isFull = false;
  private readonly chunks: Uint8Array[] = [];
  private close: (end: SourceEnd) => void = () => {};
  private waiting: (() => void)[] = [];
  private release: () => void = () => {};

  constructor(readonly streamId: string) {
    this.closed = new Promise((resolve) => {
      this.close = resolve;
    });
  }

  write(bytes: Uint8Array): boolean {
    this.chunks.push(bytes);
    this.receivedBytes += bytes.length;
    this.changed();
    return !this.isFull;
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.release = resolve;
    });
  }

  /** Wants more again. */
  drain(): void {
    this.isFull = false;
    this.release();
  }

  end(reason: string): void {
    this.ending ??= reason;
    this.close({ why: 'left', line: reason });
    this.changed();
  }

  /** Ends it from the service's side. */
  cut(line: string): void {
    this.close({ why: 'ended', line });
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.chunks);
  }

  /** Waits until something is so. */
  async until(isSo: (session: TestSession) => boolean): Promise<void> {
    while (!isSo(this)) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private changed(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const tell of waiting) tell();
  }
}

/** Takes sources by their keys, for tests. */
export class TestIngest implements Ingest {
  readonly offers: SourceOffer[] = [];
  readonly sessions: TestSession[] = [];
  private waiting: ((session: TestSession) => void)[] = [];

  /** @param keys the stream of each key */
  constructor(readonly keys: Map<string, string>) {}

  open(offer: SourceOffer): Promise<SourceSession> {
    this.offers.push(offer);
    const streamId = this.keys.get(offer.key);
    if (streamId === undefined) throw new SourceRefused('unknown-key', 'No stream has this key.');
    const isAlive = (one: TestSession) => one.streamId === streamId && one.ending === null;
    if (this.sessions.some(isAlive)) throw new SourceRefused('busy', 'The stream has a source.');
    const session = new TestSession(streamId);
    this.sessions.push(session);
    for (const tell of this.waiting.splice(0)) tell(session);
    return Promise.resolve(session);
  }

  /** The next source that is taken. */
  next(): Promise<TestSession> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

/** A sender that does as it is told, for what ffmpeg does not do. */
export class TestSender {
  /** What came so far, and who waits for more. */
  readonly messages: RtmpMessage[] = [];
  readonly closed: Promise<void>;
  private readonly reader = new ChunkReader(1 << 20);
  private handshakeBytes = 1 + 2 * HANDSHAKE_BYTES;
  private waiting: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    this.closed = new Promise((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => this.receive(bytes));
  }

  /** @param allowHalfOpen stays when the other side has said its last */
  static async open(port: number, allowHalfOpen = false): Promise<TestSender> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
    const sender = new TestSender(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    return sender;
  }

  shake(): void {
    this.socket.write(Buffer.concat([Uint8Array.of(3), Buffer.alloc(2 * HANDSHAKE_BYTES)]));
  }

  send(...messages: RtmpMessage[]): void {
    this.socket.write(Buffer.concat(messages.map((message) => chunked(message, 3, 128))));
  }

  /** The handshake and all commands at once, as a sender in a hurry. */
  publish(key: string): void {
    this.shake();
    this.send(
      commandMessage(0, 'connect', 1, { app: 'live' }),
      commandMessage(0, 'createStream', 2, null),
      commandMessage(1, 'publish', 3, null, key, 'live'),
    );
  }

  /** The codes of the statuses that came. */
  codes(): string[] {
    const commands = this.messages.filter(({ type }) => type === COMMAND);
    return commands.flatMap(({ payload }) => {
      const [name, , , info] = readAmf(payload);
      if (name !== 'onStatus') return [];
      return [(info as { code: string }).code];
    });
  }

  /** Waits until something is so. */
  async until(isSo: (sender: TestSender) => boolean): Promise<void> {
    while (!isSo(this)) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private receive(bytes: Uint8Array): void {
    const greeting = Math.min(bytes.length, this.handshakeBytes);
    this.handshakeBytes -= greeting;
    this.reader.feed(bytes.subarray(greeting));
    for (let next = this.reader.next(); next !== null; next = this.reader.next()) {
      this.messages.push(next);
    }
    for (const tell of this.waiting.splice(0)) tell();
  }
}

/** Listeners and senders of one test. KEY is the key of a stream. */
export class RtmpFixture {
  readonly ingest = new TestIngest(new Map([['KEY', 'stream']]));
  /** What was logged. */
  readonly lines: string[] = [];
  private readonly logger = pino({ level: 'debug' }, { write: (line) => this.lines.push(line) });
  private readonly senders: TestSender[] = [];
  private readonly listeners: RtmpListener[] = [];

  /** @returns the port */
  async listening(
    limits: Partial<RtmpLimits> = {},
    open: Ingest['open'] = (offer) => this.ingest.open(offer),
  ): Promise<number> {
    const listener = await listenRtmp({
      host: '127.0.0.1',
      port: 0,
      ingest: { open },
      logger: this.logger,
      limits: { ...RTMP_LIMITS, ...limits },
    });
    this.listeners.push(listener);
    return listener.port;
  }

  async sender(port: number, allowHalfOpen = false): Promise<TestSender> {
    const one = await TestSender.open(port, allowHalfOpen);
    this.senders.push(one);
    return one;
  }

  /** A sender that is a source. */
  async live(port: number, key = 'KEY'): Promise<{ source: TestSender; session: TestSession }> {
    const taken = this.ingest.next();
    const source = await this.sender(port);
    source.publish(key);
    const session = await taken;
    await source.until((one) => one.codes().includes(PUBLISHING));
    return { source, session };
  }

  async close(): Promise<void> {
    for (const sender of this.senders) sender.socket.destroy();
    for (const listener of this.listeners) await listener.stop();
  }
}

/** A message with a picture that is none. */
export function picture(timestampMs: number, bytes = 100, isKey = true): RtmpMessage {
  const payload = new Uint8Array(bytes).fill(5);
  payload.set([isKey ? 0x17 : 0x27, 1, 0, 0, 0]);
  return { type: VIDEO, streamId: 1, timestampMs, payload };
}

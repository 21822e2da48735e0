import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { readAmf } from '../../../server/media/rtmp/amf0.ts';
import { ChunkReader } from '../../../server/media/rtmp/chunk-reader.ts';
import { writeChunks } from '../../../server/media/rtmp/chunk-writer.ts';
import { HANDSHAKE_BYTES } from '../../../server/media/rtmp/handshake.ts';
import { commandMessage } from '../../../server/media/rtmp/publish-session.ts';
import { RTMP_LIMITS, type RtmpLimits } from '../../../server/media/rtmp/rtmp-limits.ts';
import { listenRtmp, type RtmpListener } from '../../../server/media/rtmp/rtmp-listener.ts';
import { COMMAND, type RtmpMessage, VIDEO } from '../../../server/media/rtmp/rtmp-message.ts';
import type { Ingest } from '../../../server/media/source.ts';
import { FakeIngest, type FakeSession } from './fake-ingest.ts';

const PUBLISHING = 'NetStream.Publish.Start';

/** A scripted RTMP client, for behavior that ffmpeg does not have. */
export class TestSender {
  /** Messages received so far. */
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

  /**
   * @param allowHalfOpen keeps its side open when the server closes
   * @param localAddress an address of 127.0.0.0/8
   */
  static async open(
    port: number,
    allowHalfOpen = false,
    localAddress = '127.0.0.1',
  ): Promise<TestSender> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen, localAddress });
    const sender = new TestSender(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    return sender;
  }

  sendHandshake(): void {
    this.socket.write(Buffer.concat([Uint8Array.of(3), Buffer.alloc(2 * HANDSHAKE_BYTES)]));
  }

  send(...messages: RtmpMessage[]): void {
    this.socket.write(Buffer.concat(messages.map((message) => writeChunks(message, 3, 128))));
  }

  /** Sends the handshake and all commands at once, without waiting for responses. */
  publish(key: string): void {
    this.sendHandshake();
    this.send(
      commandMessage(0, 'connect', 1, { app: 'live' }),
      commandMessage(0, 'createStream', 2, null),
      commandMessage(1, 'publish', 3, null, key, 'live'),
    );
  }

  /** Codes of the received onStatus messages. */
  codes(): string[] {
    const commands = this.messages.filter(({ type }) => type === COMMAND);
    return commands.flatMap(({ payload }) => {
      const [name, , , info] = readAmf(payload);
      if (name !== 'onStatus') return [];
      return [(info as { code: string }).code];
    });
  }

  /** Waits until the condition holds. */
  async until(condition: (sender: TestSender) => boolean): Promise<void> {
    while (!condition(this)) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private receive(bytes: Uint8Array): void {
    const handshakePart = Math.min(bytes.length, this.handshakeBytes);
    this.handshakeBytes -= handshakePart;
    this.reader.feed(bytes.subarray(handshakePart));
    for (let message = this.reader.next(); message !== null; message = this.reader.next()) {
      this.messages.push(message);
    }
    for (const notify of this.waiting.splice(0)) notify();
  }
}

/** Listeners and senders of one test. KEY is the key of a stream. */
export class RtmpFixture {
  /** Stream ids by key. */
  readonly keys = new Map([['KEY', 'stream']]);
  readonly ingest = new FakeIngest(this.keys);
  readonly lines: string[] = [];
  private readonly logger = pino({ level: 'debug' }, { write: (line) => this.lines.push(line) });
  private readonly senders: TestSender[] = [];
  private readonly listeners: RtmpListener[] = [];

  /** @returns the port */
  async listen(
    limits: Partial<RtmpLimits> = {},
    open: Ingest['open'] = (request) => this.ingest.open(request),
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

  /** The parameters are those of `TestSender.open`. */
  async connect(port: number, allowHalfOpen = false, localAddress?: string): Promise<TestSender> {
    const sender = await TestSender.open(port, allowHalfOpen, localAddress);
    this.senders.push(sender);
    return sender;
  }

  /** Connects a sender and publishes. */
  async goLive(port: number, key = 'KEY'): Promise<{ source: TestSender; session: FakeSession }> {
    const accepted = this.ingest.next();
    const source = await this.connect(port);
    source.publish(key);
    const session = await accepted;
    await source.until((sender) => sender.codes().includes(PUBLISHING));
    return { source, session };
  }

  async close(): Promise<void> {
    for (const sender of this.senders) sender.socket.destroy();
    for (const listener of this.listeners) await listener.stop();
  }
}

/** A video message with dummy content. */
export function videoMessage(timestampMs: number, bytes = 100, isKey = true): RtmpMessage {
  const payload = new Uint8Array(bytes).fill(5);
  payload.set([isKey ? 0x17 : 0x27, 1, 0, 0, 0]);
  return { type: VIDEO, streamId: 1, timestampMs, payload };
}

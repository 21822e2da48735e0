import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { RateMeter } from '../rate-meter.ts';
import { type Ingest, type RefusalReason, SourceRefused, type SourceSession } from '../source.ts';
import { ChunkReader } from './chunk-reader.ts';
import { FlvStream } from './flv-stream.ts';
import { Handshake } from './handshake.ts';
import { PublishSession } from './publish-session.ts';
import { ReplyWriter } from './replies.ts';
import type { RtmpLimits } from './rtmp-limits.ts';
import {
  ACKNOWLEDGEMENT,
  AGGREGATE,
  AUDIO,
  COMMAND,
  COMMAND_AMF3,
  controlMessage,
  DATA,
  DATA_AMF3,
  pongFor,
  RtmpError,
  type RtmpMessage,
  USER_CONTROL,
  uint32Of,
  VIDEO,
  WINDOW_SIZE,
} from './rtmp-message.ts';

/** Status code of a failure that is not the stream key's fault. */
export const FAILED = 'NetStream.Failed';

/** Status code by refusal reason. For BadName, most encoders tell the user to check the key. */
const REFUSAL_CODES: Readonly<Record<RefusalReason, string>> = {
  'unknown-key': 'NetStream.Publish.BadName',
  busy: 'NetStream.Publish.BadName',
  ended: 'NetStream.Publish.BadName',
  'too-many': FAILED,
  unavailable: FAILED,
};

export interface ConnectionOptions {
  readonly address: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits: RtmpLimits;
  /** Whether its address has sent few enough unknown keys to open a source. */
  readonly mayOpen: () => boolean;
  /** Called when the service does not know its key. */
  readonly onUnknownKey: () => void;
  /** Monotonic clock, ms. */
  readonly nowMs: () => number;
  /** Returns the random bytes of the handshake. */
  readonly random: () => Uint8Array;
  /** Called when `isLive` or `isReplaceable` may have changed. */
  readonly onPhaseChange: () => void;
}

type Phase = 'handshake' | 'commands' | 'opening' | 'live' | 'closed';

/** Lower bound, since a smaller window would acknowledge every packet. */
const MIN_WINDOW_BYTES = 64 << 10;

/** One RTMP connection, from handshake to close. Its methods do not throw. */
export class RtmpConnection {
  private phase: Phase = 'handshake';
  private phaseStartMs: number;
  private lastByteMs: number;
  /** Start of the encoder's current back-pressure; null without any. */
  private pausedSinceMs: number | null = null;
  private readonly handshake: Handshake;
  private readonly reader: ChunkReader;
  private readonly replies: ReplyWriter;
  private readonly publishSession = new PublishSession();
  private readonly flv: FlvStream;
  private session: SourceSession | null = null;
  /** Why the connection was closed. */
  private reason = '';
  private receivedBytes = 0;
  private acknowledgedBytes = 0;
  private readonly messageRate: RateMeter;
  private readonly pingRate: RateMeter;
  private pendingMessages = 0;
  // Acknowledge only on request: a sender that closes with unread acknowledgements resets the
  // connection and loses its last frames.
  private windowBytes = Number.POSITIVE_INFINITY;

  constructor(
    private readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    this.handshake = new Handshake(options.random);
    this.reader = new ChunkReader(options.limits.pendingMessageBytes);
    this.replies = new ReplyWriter(socket, options.limits.replyBytes);
    this.flv = new FlvStream(options.limits);
    this.messageRate = new RateMeter(options.limits.messagesPerSecond);
    this.pingRate = new RateMeter(options.limits.pingsPerSecond);
    this.phaseStartMs = options.nowMs();
    this.lastByteMs = this.phaseStartMs;
    socket.on('data', (bytes: Buffer) => this.guard(() => this.receive(bytes)));
    socket.on('end', () => this.disconnected());
    // A 'close' event follows.
    socket.on('error', () => {});
    socket.on('close', () => this.disconnected());
  }

  /** Whether its source was accepted and is live. */
  isLive(): boolean {
    return this.phase === 'live';
  }

  /** Whether it has no source, and the service does not check its key now. */
  isReplaceable(): boolean {
    return this.phase !== 'opening' && this.phase !== 'live';
  }

  /** Applies the timeouts; called periodically. */
  checkTimeouts(): void {
    const { limits, nowMs } = this.options;
    const now = nowMs();
    const phaseMs = now - this.phaseStartMs;
    if (this.phase === 'closed') {
      if (phaseMs > limits.lingerMs) this.socket.destroy();
    } else if (this.phase === 'opening') {
      if (phaseMs > limits.openMs) this.closeWithError('the service did not respond', FAILED);
    } else if (this.phase === 'live') {
      const pausedMs = this.pausedSinceMs === null ? 0 : now - this.pausedSinceMs;
      if (pausedMs > limits.backPressureMs) {
        this.closeWithError('The video arrives faster than it can be encoded.', FAILED);
      } else if (this.pausedSinceMs === null && now - this.lastByteMs > limits.idleMs) {
        this.closeWithError('timeout', FAILED);
      }
    } else {
      const limitMs = this.phase === 'handshake' ? limits.handshakeMs : limits.publishMs;
      if (phaseMs > limitMs) this.closeAtOnce('it did not publish in time');
    }
  }

  /** Ends the source, sends the reason, and closes the connection. */
  closeWithError(reason: string, code: string): void {
    if (this.phase === 'closed') return;
    const hasHandshake = this.phase !== 'handshake';
    this.finish(reason);
    if (hasHandshake) this.replies.send(this.publishSession.refusal(code, reason));
    this.closeGracefully();
  }

  /** Closes without a reply: the peer violates the protocol, or another connection replaces it. */
  closeAtOnce(reason: string): void {
    if (this.phase !== 'closed') this.finish(reason);
    this.socket.destroy();
  }

  private receive(bytes: Uint8Array): void {
    if (this.phase === 'closed') return;
    this.lastByteMs = this.options.nowMs();
    this.receivedBytes += bytes.length;
    if (this.phase !== 'live' && this.receivedBytes > this.options.limits.pendingBytes) {
      this.closeAtOnce('it sent too much before publishing');
      return;
    }
    if (this.phase === 'handshake') this.readHandshake(bytes);
    else this.reader.feed(bytes);
    this.readMessages();
    this.acknowledge();
  }

  private readHandshake(bytes: Uint8Array): void {
    const { reply, rest } = this.handshake.push(bytes);
    if (reply !== null) this.socket.write(reply);
    if (rest === null) return;
    this.enter('commands');
    this.reader.feed(rest);
  }

  private readMessages(): void {
    while (this.phase === 'commands' || this.phase === 'live') {
      const message = this.reader.next();
      if (message === null) return;
      const excess = this.countMessage();
      if (excess !== null) {
        this.closeWithError(excess, FAILED);
        return;
      }
      this.handleMessage(message);
    }
  }

  /** Limits the messages: empty ones cost the sender one byte each. @returns why it is one too many, or null */
  private countMessage(): string | null {
    const { limits, nowMs } = this.options;
    if (this.phase === 'live')
      return this.messageRate.exceeds(1, nowMs()) ? 'Too many messages per second.' : null;
    const isTooMany = ++this.pendingMessages > limits.pendingMessages;
    return isTooMany ? 'Too many messages before publishing.' : null;
  }

  private handleMessage(message: RtmpMessage): void {
    switch (message.type) {
      case AUDIO:
      case VIDEO:
      case DATA:
      case DATA_AMF3:
      case AGGREGATE:
        this.handleMedia(message);
        break;
      case COMMAND:
      case COMMAND_AMF3:
        this.handleCommand(message);
        break;
      case WINDOW_SIZE:
        this.windowBytes = Math.max(MIN_WINDOW_BYTES, uint32Of(message));
        break;
      case USER_CONTROL: {
        const pong = pongFor(message);
        const isTooMany = pong !== null && this.pingRate.exceeds(1, this.options.nowMs());
        if (pong !== null && !isTooMany) this.replies.send(pong);
        break;
      }
      // The reader applies Set Chunk Size and Abort; all other types are ignored.
    }
  }

  private handleMedia(message: RtmpMessage): void {
    const { session } = this;
    if (session === null) return;
    for (const bytes of this.flv.convert(message, this.options.nowMs())) {
      const wantsMore = session.write(bytes);
      if (!wantsMore && this.pausedSinceMs === null) this.pause(session);
    }
  }

  private handleCommand(message: RtmpMessage): void {
    for (const step of this.publishSession.command(message)) {
      if (step.kind === 'send') this.replies.send(step.message);
      else if (step.kind === 'publish') this.open(step.key);
      else if (step.kind === 'refuse') this.closeWithError(step.reason, step.code);
      else {
        this.finish('the source stopped publishing');
        this.replies.send(this.publishSession.unpublished());
        this.closeGracefully();
      }
    }
  }

  private open(key: string): void {
    // Before the phase that is logged as a warning: each attempt is a write transaction of the database.
    if (!this.options.mayOpen()) {
      const reason = 'Too many wrong stream keys from this address; try again in a minute.';
      this.closeWithError(reason, FAILED);
      return;
    }
    this.enter('opening');
    this.socket.pause();
    const { ingest, address } = this.options;
    // Inside a promise, so that a synchronous throw is handled too.
    const opening = Promise.resolve().then(() =>
      ingest.open({ key, kind: 'rtmp', container: 'flv', address }),
    );
    opening.then(
      (session) => this.guard(() => this.start(session)),
      (error) => this.openFailed(error),
    );
  }

  private start(session: SourceSession): void {
    if (this.phase !== 'opening') {
      session.end(this.reason);
      return;
    }
    this.session = session;
    this.enter('live');
    this.reader.maxMessageBytes = this.options.limits.messageBytes;
    for (const message of this.publishSession.acceptanceMessages()) this.replies.send(message);
    void session.closed.then(({ message }) => this.closeWithError(message, FAILED));
    this.socket.resume();
    this.readMessages();
  }

  private openFailed(error: unknown): void {
    const isExpected = error instanceof SourceRefused;
    // Only these: after a network cut of 8 s, the retries of 8 encoders with valid keys behind one address used up
    // a limit of all attempts. Also of a sender that has left, which would guess without a limit.
    if (isExpected && error.reason === 'unknown-key') this.options.onUnknownKey();
    if (this.phase === 'closed') return;
    if (!isExpected) this.options.logger.error({ err: error, kind: 'rtmp' }, 'source failed');
    const reason = isExpected
      ? error.message
      : 'The service cannot accept a source now; try again.';
    this.closeWithError(reason, isExpected ? REFUSAL_CODES[error.reason] : FAILED);
  }

  /** Pauses the socket until the session accepts more. */
  private pause(session: SourceSession): void {
    this.pausedSinceMs = this.options.nowMs();
    this.socket.pause();
    void session.drained().then(() => {
      if (this.phase !== 'live') return;
      this.pausedSinceMs = null;
      this.lastByteMs = this.options.nowMs();
      this.socket.resume();
    });
  }

  /** Acknowledges received bytes, once per window that the peer requested. */
  private acknowledge(): void {
    if (this.receivedBytes - this.acknowledgedBytes < this.windowBytes) return;
    this.acknowledgedBytes = this.receivedBytes;
    this.replies.send(controlMessage(ACKNOWLEDGEMENT, this.receivedBytes));
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      const { logger, address } = this.options;
      const isExpected = error instanceof RtmpError;
      if (!isExpected) logger.error({ err: error, address, kind: 'rtmp' }, 'source failed');
      const reason = isExpected ? error.message : 'The service failed.';
      if (this.phase === 'live') this.closeWithError(reason, FAILED);
      else this.closeAtOnce(reason);
    }
  }

  private enter(phase: Phase): void {
    this.phase = phase;
    this.phaseStartMs = this.options.nowMs();
    this.options.onPhaseChange();
  }

  private disconnected(): void {
    if (this.phase !== 'closed') this.finish('connection lost');
    this.socket.destroy();
  }

  /** Enters the final phase and ends the session. */
  private finish(reason: string): void {
    const { logger, address } = this.options;
    const fields = { kind: 'rtmp', address, reason };
    if (this.phase === 'opening') logger.warn(fields, 'source refused');
    // Connections without a publish command are logged at debug level only.
    else if (!this.session) logger.debug(fields, 'no source');
    this.enter('closed');
    this.reason = reason;
    this.session?.end(reason);
  }

  /**
   * Closes after pending writes. Reads and discards input until the peer closes, since closing a
   * socket with unread input resets it and loses the last reply.
   */
  private closeGracefully(): void {
    this.socket.resume();
    this.socket.end();
  }
}

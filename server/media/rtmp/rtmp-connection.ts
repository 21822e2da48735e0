import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { PerSecond } from '../per-second.ts';
import { type Ingest, SourceRefused, type SourceSession } from '../source.ts';
import { ChunkReader } from './chunk-reader.ts';
import { FlvStream } from './flv-stream.ts';
import { Handshake } from './handshake.ts';
import { PublishDialog } from './publish-dialog.ts';
import { Replies } from './replies.ts';
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
  pingAnswer,
  RtmpError,
  type RtmpMessage,
  USER_CONTROL,
  uint32Of,
  VIDEO,
  WINDOW_SIZE,
} from './rtmp-message.ts';
import { FAILED, REFUSAL_CODES } from './status-codes.ts';

export interface ConnectionOptions {
  readonly address: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits: RtmpLimits;
  /** A clock that runs forward, ms. */
  readonly nowMs: () => number;
  /** Random bytes for the handshake. */
  readonly random: () => Uint8Array;
}

type Phase = 'handshake' | 'commands' | 'opening' | 'live' | 'over';

/** A smaller window would have us confirm each packet. */
const WINDOW_BYTES_MIN = 64 << 10;

/** One connection, which wants to be, or is, a source. Nothing here throws. */
export class RtmpConnection {
  private phase: Phase = 'handshake';
  private sinceMs: number;
  private lastByteMs: number;
  /** Since when the encoder wants no more; null: it takes what comes. */
  private heldSinceMs: number | null = null;
  private readonly handshake: Handshake;
  private readonly reader: ChunkReader;
  private readonly replies: Replies;
  private readonly dialog = new PublishDialog();
  private readonly flv = new FlvStream();
  private session: SourceSession | null = null;
  /** Why it is over. */
  private reason = '';
  private receivedBytes = 0;
  private confirmedBytes = 0;
  private readonly messages: PerSecond;
  // Only who asks is told what came: senders that do not read it are reset when they close, with
  // their last pictures still on the way.
  private windowBytes = Number.POSITIVE_INFINITY;

  constructor(
    private readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    this.handshake = new Handshake(options.random);
    this.reader = new ChunkReader(options.limits.firstMessageBytes);
    this.replies = new Replies(socket, options.limits.replyBytes);
    this.messages = new PerSecond(options.limits.messagesPerS);
    this.sinceMs = options.nowMs();
    this.lastByteMs = this.sinceMs;
    socket.on('data', (bytes: Buffer) => this.guarded(() => this.receive(bytes)));
    socket.on('end', () => this.lost());
    // 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => this.lost());
  }

  /** Whether it is a source that was taken. */
  isLive(): boolean {
    return this.phase === 'live';
  }

  /** Looks whether it has waited long enough. */
  look(): void {
    const { limits, nowMs } = this.options;
    const now = nowMs();
    const inPhaseMs = now - this.sinceMs;
    if (this.phase === 'over') {
      if (inPhaseMs > limits.lingerMs) this.socket.destroy();
    } else if (this.phase === 'opening') {
      if (inPhaseMs > limits.openMs) this.leave('the service did not answer', FAILED);
    } else if (this.phase === 'live') {
      const heldMs = this.heldSinceMs === null ? 0 : now - this.heldSinceMs;
      if (heldMs > limits.slowMs) {
        this.leave('The video comes faster than it can be encoded.', FAILED);
      } else if (this.heldSinceMs === null && now - this.lastByteMs > limits.idleMs) {
        this.leave('timeout', FAILED);
      }
    } else {
      const most = this.phase === 'handshake' ? limits.handshakeMs : limits.publishMs;
      if (inPhaseMs > most) this.drop('it did not publish in time');
    }
  }

  /** Ends the source, tells it why, and closes the connection. */
  leave(reason: string, code: string): void {
    if (this.phase === 'over') return;
    const wasGreeted = this.phase !== 'handshake';
    this.over(reason);
    if (wasGreeted) this.replies.send(this.dialog.refusal(code, reason));
    this.hangUp();
  }

  private receive(bytes: Uint8Array): void {
    if (this.phase === 'over') return;
    this.lastByteMs = this.options.nowMs();
    this.receivedBytes += bytes.length;
    if (this.phase !== 'live' && this.receivedBytes > this.options.limits.firstBytes) {
      this.drop('it sends too much before it publishes');
      return;
    }
    if (this.phase === 'handshake') this.greet(bytes);
    else this.reader.feed(bytes);
    this.read();
    this.confirm();
  }

  private greet(bytes: Uint8Array): void {
    const { reply, rest } = this.handshake.push(bytes);
    if (reply !== null) this.socket.write(reply);
    if (rest === null) return;
    this.enter('commands');
    this.reader.feed(rest);
  }

  private read(): void {
    while (this.phase === 'commands' || this.phase === 'live') {
      const message = this.reader.next();
      if (message === null) return;
      // They may be empty, and then take one byte each.
      if (this.messages.isTooMany(1, this.options.nowMs())) {
        this.leave('The video is cut into too many pieces.', FAILED);
        return;
      }
      this.take(message);
    }
  }

  private take(message: RtmpMessage): void {
    switch (message.type) {
      case AUDIO:
      case VIDEO:
      case DATA:
      case DATA_AMF3:
      case AGGREGATE:
        this.takeMedia(message);
        break;
      case COMMAND:
      case COMMAND_AMF3:
        this.takeCommand(message);
        break;
      case WINDOW_SIZE:
        this.windowBytes = Math.max(WINDOW_BYTES_MIN, uint32Of(message));
        break;
      case USER_CONTROL: {
        const answer = pingAnswer(message);
        if (answer !== null) this.replies.send(answer);
        break;
      }
      // Of the others only Set Chunk Size and Abort matter, which the reader follows.
    }
  }

  private takeMedia(message: RtmpMessage): void {
    const { session } = this;
    if (session === null) return;
    for (const bytes of this.flv.bytes(message, this.options.nowMs())) {
      const wantsMore = session.write(bytes);
      if (!wantsMore && this.heldSinceMs === null) this.hold(session);
    }
  }

  private takeCommand(message: RtmpMessage): void {
    for (const step of this.dialog.command(message)) {
      if (step.kind === 'send') this.replies.send(step.message);
      else if (step.kind === 'publish') this.open(step.key);
      else if (step.kind === 'refuse') this.leave(step.reason, step.code);
      else {
        this.over('the source ended it');
        this.replies.send(this.dialog.unpublished());
        this.hangUp();
      }
    }
  }

  private open(key: string): void {
    this.enter('opening');
    this.socket.pause();
    const { ingest, address } = this.options;
    // A promise, whatever it throws.
    const opening = Promise.resolve().then(() =>
      ingest.open({ key, kind: 'rtmp', container: 'flv', address }),
    );
    opening.then(
      (session) => this.guarded(() => this.begin(session)),
      (error) => this.refused(error),
    );
  }

  private begin(session: SourceSession): void {
    if (this.phase !== 'opening') {
      session.end(this.reason);
      return;
    }
    this.session = session;
    this.enter('live');
    this.reader.messageBytesMax = this.options.limits.messageBytes;
    for (const message of this.dialog.publishing()) this.replies.send(message);
    void session.closed.then(({ line }) => this.leave(line, FAILED));
    this.socket.resume();
    this.read();
  }

  private refused(error: unknown): void {
    const isKnown = error instanceof SourceRefused;
    if (this.phase === 'over') return;
    if (!isKnown) this.options.logger.error({ err: error, kind: 'rtmp' }, 'a source failed');
    const reason = isKnown ? error.message : 'The service cannot take a source now; try again.';
    this.leave(reason, isKnown ? REFUSAL_CODES[error.reason] : FAILED);
  }

  /** Reads no more from the socket until the encoder wants more. */
  private hold(session: SourceSession): void {
    this.heldSinceMs = this.options.nowMs();
    this.socket.pause();
    void session.drained().then(() => {
      if (this.phase !== 'live') return;
      this.heldSinceMs = null;
      this.lastByteMs = this.options.nowMs();
      this.socket.resume();
    });
  }

  /** Says how much came, as often as the sender wants to hear it. */
  private confirm(): void {
    if (this.receivedBytes - this.confirmedBytes < this.windowBytes) return;
    this.confirmedBytes = this.receivedBytes;
    this.replies.send(controlMessage(ACKNOWLEDGEMENT, this.receivedBytes));
  }

  private guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      const { logger, address } = this.options;
      const isKnown = error instanceof RtmpError;
      if (!isKnown) logger.error({ err: error, address, kind: 'rtmp' }, 'a source failed');
      const reason = isKnown ? error.message : 'The service failed.';
      if (this.phase === 'live') this.leave(reason, FAILED);
      else this.drop(reason);
    }
  }

  private enter(phase: Phase): void {
    this.phase = phase;
    this.sinceMs = this.options.nowMs();
  }

  /** The sender is gone. */
  private lost(): void {
    if (this.phase !== 'over') this.over('connection lost');
    this.socket.destroy();
  }

  /** Closes at once: whoever this is speaks no RTMP. */
  private drop(reason: string): void {
    if (this.phase === 'over') return;
    this.over(reason);
    this.socket.destroy();
  }

  /** From here on nothing is taken. */
  private over(reason: string): void {
    const { logger, address } = this.options;
    const said = { kind: 'rtmp', address, reason };
    if (this.phase === 'opening') logger.warn(said, 'source refused');
    // Who only knocks does not fill the log.
    else if (!this.session) logger.debug(said, 'no source');
    this.enter('over');
    this.reason = reason;
    this.session?.end(reason);
  }

  /**
   * Sends what is written and closes; what still comes is read and thrown away for a moment, since
   * a socket that is closed over unread bytes takes the last words with it.
   */
  private hangUp(): void {
    this.socket.resume();
    this.socket.end();
  }
}

import type { ServerWebSocket } from 'bun';
import type { Logger } from 'pino';
import { runtime } from '../../platform/runtime.ts';
import { RateMeter } from '../rate-meter.ts';
import {
  type Ingest,
  type RefusalReason,
  type SourceEndReason,
  SourceRefused,
  type SourceSession,
} from '../source.ts';
import { readFirstMessage, UnsupportedMessage } from './first-message.ts';

/**
 * Maximum message size. 250 ms at the highest rendition take 0.6 MB; a recorder that was stalled
 * sends more at once.
 */
export const MAX_MESSAGE_BYTES = 4 << 20;

/** Maximum size of the first message: key, type and sender. */
export const FIRST_MESSAGE_BYTES_MAX = 4 << 10;

/** Close codes (SPEC M-4). */
export const CLOSE_CODES = {
  unknownKey: 4401,
  busy: 4409,
  ended: 4410,
  tooSlow: 4413,
  notUnderstood: 4415,
  unavailable: 4503,
} as const;

const REFUSAL_CODES: Readonly<Record<RefusalReason, number>> = {
  'unknown-key': CLOSE_CODES.unknownKey,
  busy: CLOSE_CODES.busy,
  ended: CLOSE_CODES.ended,
  'too-many': CLOSE_CODES.busy,
  unavailable: CLOSE_CODES.unavailable,
};

const END_CODES: Readonly<Record<SourceEndReason, number>> = {
  left: 1000,
  ended: CLOSE_CODES.ended,
  replaced: CLOSE_CODES.busy,
  'too-slow': CLOSE_CODES.tooSlow,
  'not-understood': CLOSE_CODES.notUnderstood,
  stopping: CLOSE_CODES.unavailable,
};

/** Timeouts and buffer limits of a socket. */
export const SOURCE_LIMITS = {
  /** From the opening of the socket to its first message. */
  firstMessageMs: 5_000,
  /** How long the encoder may apply back-pressure. One that hangs is restarted before, after 10.5 s. */
  backPressureMs: 12_000,
  /**
   * Bytes that may still arrive while the socket is paused: what kernel and runtime have already
   * read, or more where a pause does not reach the sender.
   */
  pausedBytes: 16 << 20,
  /** Messages per second, as with RTMP: a recorder sends four, `fourbeat media play` one for each frame. */
  messagesPerSecond: 3_000,
};

export type SourceLimits = Readonly<typeof SOURCE_LIMITS>;

export interface WebSocketSourceOptions {
  /** Stream id in the path; the key must belong to it. */
  readonly streamId: string;
  /** The sender's address, for the log. */
  readonly address: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits: SourceLimits;
  /** Called once, when the source is live or closed and so no longer counts as opening. */
  readonly onSettled: () => void;
}

/** One WebSocket of a source, from its opening to its close. Its methods do not throw. */
export class WebSocketSource {
  private socket: ServerWebSocket<WebSocketSource> | null = null;
  private session: SourceSession | null = null;
  private isOpening = false;
  private isClosed = false;
  private isSettled = false;
  private isPaused = false;
  private pausedBytes = 0;
  private readonly messageRate: RateMeter;
  private timer: Timer | undefined;

  constructor(private readonly options: WebSocketSourceOptions) {
    this.messageRate = new RateMeter(options.limits.messagesPerSecond);
  }

  onOpen(socket: ServerWebSocket<WebSocketSource>): void {
    this.socket = socket;
    this.timer = runtime.setTimeout(
      () => this.close(CLOSE_CODES.tooSlow, 'The first message did not arrive in time.'),
      this.options.limits.firstMessageMs,
    );
  }

  onMessage(message: string | Uint8Array): void {
    if (this.isClosed) return;
    if (message.length > MAX_MESSAGE_BYTES) {
      this.close(
        CLOSE_CODES.tooSlow,
        'A message is too large; send at least one message a second.',
      );
    } else if (this.session) this.handleMedia(this.session, message);
    else if (this.isOpening) {
      this.close(CLOSE_CODES.notUnderstood, 'Wait for {"state":"live"} before you send.');
    } else if (message.length > FIRST_MESSAGE_BYTES_MAX) {
      this.close(CLOSE_CODES.notUnderstood, 'The first message is too large: send the stream key.');
    } else void this.open(message);
  }

  /** Handles the close of the socket by either side. */
  onClose(code: number, reason: string): void {
    this.finish(`the socket was closed: ${code} ${reason}`.trim());
  }

  /** Ends the source and closes the socket. @param reason for the log; the first 123 bytes are sent */
  close(code: number, reason: string): void {
    if (this.isClosed) return;
    this.finish(reason);
    this.socket?.close(code, truncateReason(reason));
  }

  private async open(message: string | Uint8Array): Promise<void> {
    runtime.clearTimer(this.timer);
    this.isOpening = true;
    const { streamId, address, ingest, logger } = this.options;
    try {
      const first = readFirstMessage(message);
      const session = await ingest.open({ ...first, address, streamId });
      if (this.isClosed) session.end('the sender left');
      else this.start(session);
    } catch (error) {
      const { code, message: reason } = refusalOf(error);
      const fields = { kind: 'websocket', streamId, address, code, reason };
      if (code === CLOSE_CODES.unavailable && !(error instanceof SourceRefused)) {
        logger.error({ ...fields, err: error }, 'source refused');
      } else logger.warn(fields, 'source refused');
      this.close(code, reason);
    }
  }

  private start(session: SourceSession): void {
    this.session = session;
    this.settle();
    this.sendState({ state: 'live' });
    void session.closed.then(({ reason, message }) => {
      if (this.isClosed) return;
      this.sendState({ state: 'ended', reason: message });
      this.close(END_CODES[reason], message);
    });
  }

  private handleMedia(session: SourceSession, message: string | Uint8Array): void {
    if (typeof message === 'string') {
      this.close(CLOSE_CODES.notUnderstood, 'All messages after the first one must be binary.');
      return;
    }
    // 700,000 messages of one byte a second, 39 Mbit/s, keep the thread busy.
    if (this.messageRate.exceeds(1, runtime.monotonicMs())) {
      const most = this.options.limits.messagesPerSecond;
      this.close(CLOSE_CODES.tooSlow, `Too many messages; send at most ${most} a second.`);
      return;
    }
    if (this.isPaused) {
      this.pausedBytes += message.length;
      if (this.pausedBytes > this.options.limits.pausedBytes) {
        this.close(CLOSE_CODES.tooSlow, 'The video arrives faster than it can be encoded.');
        return;
      }
    }
    const wantsMore = session.write(message);
    if (!wantsMore && !this.isPaused) this.pause(session);
  }

  /** Pauses the socket until the session accepts more, and notifies the sender. */
  private pause(session: SourceSession): void {
    this.isPaused = true;
    this.pausedBytes = 0;
    this.sendState({ state: 'slow' });
    this.socket?.pause();
    this.timer = runtime.setTimeout(
      () => this.close(CLOSE_CODES.tooSlow, 'The encoder is too slow for this video.'),
      this.options.limits.backPressureMs,
    );
    void session.drained().then(() => {
      if (this.isClosed) return;
      runtime.clearTimer(this.timer);
      this.isPaused = false;
      this.socket?.resume();
      this.sendState({ state: 'live' });
    });
  }

  private sendState(state: { state: string; reason?: string }): void {
    this.socket?.sendText(JSON.stringify(state));
  }

  private settle(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.options.onSettled();
  }

  private finish(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    runtime.clearTimer(this.timer);
    // A paused socket would not notice that its peer has closed.
    if (this.isPaused) this.socket?.resume();
    this.session?.end(reason);
    this.settle();
  }
}

function refusalOf(error: unknown): { code: number; message: string } {
  if (error instanceof UnsupportedMessage) {
    return { code: CLOSE_CODES.notUnderstood, message: error.message };
  }
  if (error instanceof SourceRefused) {
    return { code: REFUSAL_CODES[error.reason], message: error.message };
  }
  return {
    code: CLOSE_CODES.unavailable,
    message: 'The service cannot accept a source now; try again.',
  };
}

// RFC 6455, section 5.5: a control frame holds 125 bytes, two of them the close code.
const MAX_REASON_BYTES = 123;

/** Truncates a close reason to what a close frame holds, at a character boundary. */
export function truncateReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= MAX_REASON_BYTES) return reason;
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES), { stream: true });
}

import type { ServerWebSocket } from 'bun';
import type { Logger } from 'pino';
import {
  type SourceEndReason,
  type Ingest,
  type RefusalReason,
  SourceRefused,
  type SourceSession,
} from '../source.ts';
import { type FirstMessage, NotUnderstood, readFirstMessage } from './first-message.ts';

/**
 * What a message may hold: 250 ms at the top of the ladder are 0.6 MB; a recorder that was held up
 * hands over more at once.
 */
export const MESSAGE_BYTES_MAX = 4 << 20;

/** Why a socket is closed (SPEC M-4). */
export const CLOSE_CODES = {
  unknownKey: 4401,
  busy: 4409,
  ended: 4410,
  tooSlow: 4413,
  notUnderstood: 4415,
  unavailable: 4503,
} as const;

const CODE_OF: Readonly<Record<RefusalReason, number>> = {
  'unknown-key': CLOSE_CODES.unknownKey,
  busy: CLOSE_CODES.busy,
  ended: CLOSE_CODES.ended,
  unavailable: CLOSE_CODES.unavailable,
};

const END_CODE_OF: Readonly<Record<SourceEndReason, number>> = {
  left: 1000,
  ended: CLOSE_CODES.ended,
  replaced: CLOSE_CODES.busy,
  'too-slow': CLOSE_CODES.tooSlow,
  'not-understood': CLOSE_CODES.notUnderstood,
  stopping: CLOSE_CODES.unavailable,
};

/** How long a socket is waited for, and how much for it. */
export interface SourceLimits {
  /** From the opening of the socket to its first message. */
  readonly firstMessageMs: number;
  /** How long the encoder may take nothing. */
  readonly slowMs: number;
  /**
   * What may still come after the socket was told to hold back: what the kernel and the runtime had
   * read by then, or all that comes where a pause does not reach the sender.
   */
  readonly waitingBytes: number;
}

export const SOURCE_LIMITS: SourceLimits = {
  firstMessageMs: 5_000,
  slowMs: 10_000,
  waitingBytes: 16 << 20,
};

export interface WebSocketSourceOptions {
  /** Of the path: the key must be this stream's. */
  readonly streamId: string;
  /** For the log. */
  readonly address: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits: SourceLimits;
  /** Told once, when it is live or gone: it no longer counts as one that opens. */
  readonly onSettled: () => void;
}

/** One socket that wants to be, or is, the source of a stream. Nothing here throws. */
export class WebSocketSource {
  private socket: ServerWebSocket<WebSocketSource> | null = null;
  private session: SourceSession | null = null;
  private isOpening = false;
  private isGone = false;
  private isSettled = false;
  private isHeld = false;
  private waitingBytes = 0;
  private timer: Timer | undefined;

  constructor(private readonly options: WebSocketSourceOptions) {}

  opened(socket: ServerWebSocket<WebSocketSource>): void {
    this.socket = socket;
    this.timer = setTimeout(
      () => this.close(CLOSE_CODES.tooSlow, 'The first message did not come in time.'),
      this.options.limits.firstMessageMs,
    );
  }

  message(message: string | Uint8Array): void {
    if (this.isGone) return;
    if (message.length > MESSAGE_BYTES_MAX) {
      this.close(CLOSE_CODES.tooSlow, 'A message is too large; send a piece each second at least.');
    } else if (this.session) this.take(this.session, message);
    else if (this.isOpening) {
      this.close(CLOSE_CODES.notUnderstood, 'Wait for {"state":"live"} before you send.');
    } else void this.open(message);
  }

  /** The socket is closed, by whomever. */
  closed(code: number, reason: string): void {
    this.leave(`the socket was closed: ${code} ${reason}`.trim());
  }

  /** Ends the source and closes the socket. @param reason also for the sender, ≤ 123 bytes */
  close(code: number, reason: string): void {
    if (this.isGone) return;
    this.leave(reason);
    this.socket?.close(code, withinFrame(reason));
  }

  private async open(message: string | Uint8Array): Promise<void> {
    clearTimeout(this.timer);
    this.isOpening = true;
    const { streamId, address, logger } = this.options;
    try {
      const first = readFirstMessage(message);
      const session = await this.offer(first);
      if (this.isGone) session.end('the sender left');
      else this.begin(session);
    } catch (error) {
      const { code, line } = refusalOf(error);
      const said = { kind: 'websocket', streamId, address, code, reason: line };
      if (code === CLOSE_CODES.unavailable && !(error instanceof SourceRefused)) {
        logger.error({ ...said, err: error }, 'source refused');
      } else logger.warn(said, 'source refused');
      this.close(code, line);
    }
  }

  private offer({ key, container }: FirstMessage): Promise<SourceSession> {
    const { ingest, address, streamId } = this.options;
    return ingest.open({ key, kind: 'websocket', container, address, streamId });
  }

  private begin(session: SourceSession): void {
    this.session = session;
    this.settle();
    this.tell({ state: 'live' });
    void session.closed.then(({ reason, message }) => {
      if (this.isGone) return;
      this.tell({ state: 'ended', reason: message });
      this.close(END_CODE_OF[reason], message);
    });
  }

  private take(session: SourceSession, message: string | Uint8Array): void {
    if (typeof message === 'string') {
      this.close(CLOSE_CODES.notUnderstood, 'After the first message only binary ones are taken.');
      return;
    }
    if (this.isHeld) {
      this.waitingBytes += message.length;
      if (this.waitingBytes > this.options.limits.waitingBytes) {
        this.close(CLOSE_CODES.tooSlow, 'The video comes faster than it can be encoded.');
        return;
      }
    }
    const wantsMore = session.write(message);
    if (!wantsMore && !this.isHeld) this.hold(session);
  }

  /** Reads no more from the socket until the encoder wants more; says so, for what is shown. */
  private hold(session: SourceSession): void {
    this.isHeld = true;
    this.waitingBytes = 0;
    this.tell({ state: 'slow' });
    this.socket?.pause();
    this.timer = setTimeout(
      () => this.close(CLOSE_CODES.tooSlow, 'The encoder has taken nothing for too long.'),
      this.options.limits.slowMs,
    );
    void session.drained().then(() => {
      if (this.isGone) return;
      clearTimeout(this.timer);
      this.isHeld = false;
      this.socket?.resume();
      this.tell({ state: 'live' });
    });
  }

  private tell(state: { state: string; reason?: string }): void {
    this.socket?.sendText(JSON.stringify(state));
  }

  private settle(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.options.onSettled();
  }

  private leave(reason: string): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.timer);
    // A socket that is not read would never hear that its peer has closed it.
    if (this.isHeld) this.socket?.resume();
    this.session?.end(reason);
    this.settle();
  }
}

function refusalOf(error: unknown): { code: number; line: string } {
  if (error instanceof NotUnderstood) {
    return { code: CLOSE_CODES.notUnderstood, line: error.message };
  }
  if (error instanceof SourceRefused) {
    return { code: CODE_OF[error.reason], line: error.message };
  }
  return {
    code: CLOSE_CODES.unavailable,
    line: 'The service cannot take a source now; try again.',
  };
}

// RFC 6455, section 5.5: a control frame holds 125 bytes, two of them the code.
const REASON_BYTES_MAX = 123;

/** A reason cut to what a close frame holds, at the end of a character. */
export function withinFrame(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= REASON_BYTES_MAX) return reason;
  return new TextDecoder().decode(bytes.subarray(0, REASON_BYTES_MAX), { stream: true });
}

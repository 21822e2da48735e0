import type { udp } from 'bun';
import type { SourceSession } from '../source.ts';
import { Receiver } from './receiver.ts';
import {
  inductionOf,
  readHandshake,
  readRefusal,
  refuse,
  shutdown,
  withCookie,
} from './srt-handshake.ts';
import { REJECTIONS } from './srt-refusal.ts';

export interface RelayOptions {
  readonly ffmpeg: string;
  /** Free, of this machine. */
  readonly port: number;
  /** What the caller was taken by. */
  readonly conclusion: Buffer;
  readonly session: SourceSession;
  readonly limits: RelayLimits;
  readonly toCaller: (datagram: Buffer) => void;
  /** Once. @param lines the last of the receiver, when it has brought nothing */
  readonly onEnd: (reason: string, lines: readonly string[]) => void;
}

export interface RelayLimits {
  /** A caller that is not heard from so long is gone. libsrt says something each second. */
  readonly idleMs: number;
  /** How long a receiver may take to begin; callers wait for 3 s by default, some longer. */
  readonly startMs: number;
  /** How long the encoder may take nothing. */
  readonly slowMs: number;
}

export const RELAY_LIMITS: RelayLimits = { idleMs: 5_000, startMs: 5_000, slowMs: 10_000 };

// How often the receiver is asked whether it is there.
const GREETING_MS = 40;

/** One caller and its receiver: datagrams pass between them unchanged, but for the first. */
export class Relay {
  private socket: udp.ConnectedSocket<'buffer'> | null = null;
  private readonly receiver: Receiver;
  /** The receiver's, once it has answered. */
  private cookie: number | null = null;
  private readonly socketId: number;
  private heardMs = performance.now();
  private hasBrought = false;
  private isEnded = false;
  private readonly ending = Promise.withResolvers<void>();
  private readonly greeting: Timer;
  private readonly tooLate: Timer;

  /** @throws Error when there is no ffmpeg */
  constructor(private readonly options: RelayOptions) {
    const { ffmpeg, port, session, limits, conclusion } = options;
    this.socketId = readHandshake(conclusion)?.socketId ?? 0;
    this.receiver = new Receiver(ffmpeg, port, {
      onBytes: (bytes) => this.take(bytes),
      onEnd: (lines) => this.receiverEnded(lines),
    });
    this.greeting = setInterval(() => this.greet(), GREETING_MS);
    this.tooLate = setTimeout(() => this.failed('the receiver did not begin'), limits.startMs);
    void session.closed.then(({ line }) => this.end(line));
    this.connect().catch(() => this.failed('there is no socket for the receiver'));
  }

  /** Passes on what the caller sends. */
  fromCaller(datagram: Buffer): void {
    this.heardMs = performance.now();
    // Until then the caller repeats its conclusion alone, which is known.
    if (this.cookie === null) return;
    const isConclusion = readHandshake(datagram)?.type === 'conclusion';
    this.send(isConclusion ? withCookie(datagram, this.cookie) : datagram);
  }

  /** Ends it when the caller has not been heard from for too long. */
  endIfIdle(): void {
    if (performance.now() - this.heardMs > this.options.limits.idleMs) {
      this.end('nothing comes from the sender any more');
    }
  }

  /** Ends the source and tells the caller. @param reason for the log */
  end(reason: string, lines: readonly string[] = []): void {
    if (this.isEnded) return;
    this.isEnded = true;
    clearInterval(this.greeting);
    clearTimeout(this.tooLate);
    this.receiver.stop();
    this.socket?.close();
    this.ending.resolve();
    const { session, toCaller, onEnd } = this.options;
    toCaller(shutdown(this.socketId));
    session.end(reason);
    onEnd(reason, lines);
  }

  private failed(reason: string, lines: readonly string[] = []): void {
    if (this.isEnded) return;
    this.options.toCaller(refuse(this.options.conclusion, REJECTIONS.broken));
    this.end(reason, lines);
  }

  private async connect(): Promise<void> {
    const socket = await Bun.udpSocket({
      hostname: '127.0.0.1',
      connect: { hostname: '127.0.0.1', port: this.options.port },
      socket: {
        data: (_, datagram) => this.fromReceiver(datagram),
        // The receiver does not listen yet, or no more.
        error: () => {},
      },
    });
    if (this.isEnded) socket.close();
    else this.socket = socket;
  }

  private greet(): void {
    this.send(inductionOf(this.options.conclusion));
  }

  private fromReceiver(datagram: Buffer): void {
    if (this.isEnded) return;
    const handshake = readHandshake(datagram);
    if (handshake?.type === 'induction') {
      if (this.cookie !== null) return;
      this.cookie = handshake.cookie;
      clearInterval(this.greeting);
      clearTimeout(this.tooLate);
      this.send(withCookie(this.options.conclusion, this.cookie));
      return;
    }
    this.options.toCaller(datagram);
    const code = readRefusal(datagram);
    if (code > 0) this.end(`the receiver refused the sender: ${code}`);
  }

  private send(datagram: Buffer): void {
    if (this.isEnded) return;
    try {
      this.socket?.send(datagram);
    } catch {
      // As lost as any datagram may be; what is missing is sent again.
    }
  }

  /** @returns when more is wanted, or it is over */
  private take(bytes: Uint8Array): Promise<void> | undefined {
    const { session, limits } = this.options;
    this.hasBrought = true;
    if (this.isEnded || session.write(bytes)) return undefined;
    const tooSlow = setTimeout(
      () => this.end('the encoder has taken nothing for too long'),
      limits.slowMs,
    );
    const wanted = Promise.race([session.drained(), this.ending.promise]);
    return wanted.finally(() => clearTimeout(tooSlow));
  }

  private receiverEnded(lines: readonly string[]): void {
    if (this.hasBrought) this.end('the sender left');
    else this.failed('the receiver ended before anything came', lines);
  }
}

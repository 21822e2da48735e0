import type { udp } from 'bun';
import { runtime } from '../../platform/runtime.ts';
import type { SourceSession } from '../source.ts';
import { Receiver } from './receiver.ts';
import {
  createRejection,
  createShutdown,
  inductionOf,
  readHandshake,
  readRejection,
  withCookie,
} from './srt-handshake.ts';
import { REJECTIONS } from './srt-refusal.ts';

export interface CallerRelayOptions {
  readonly ffmpeg: string;
  /** A free UDP port on loopback. */
  readonly port: number;
  /** Finds another port for a receiver that could not use its port, because it is taken by now. */
  readonly nextPort: () => Promise<number>;
  /** The handshake conclusion with which the caller was accepted. */
  readonly conclusion: Buffer;
  readonly session: SourceSession;
  readonly limits: RelayLimits;
  readonly toCaller: (datagram: Buffer) => void;
  /** Counts a datagram of the account. @returns the number in this second */
  readonly countOfAccount: () => number;
  /** Called once. @param lines the receiver's last log lines, if it failed before any data */
  readonly onEnd: (reason: string, lines: readonly string[]) => void;
}

export interface RelayLimits {
  /** Silence after which a caller is gone. libsrt sends a keep-alive each second. */
  readonly idleMs: number;
  /** Time for the receiver to start; callers wait 3 s by default, some longer. */
  readonly startMs: number;
  /** How long the encoder may apply back-pressure. One that hangs is restarted before, after 10.5 s. */
  readonly backPressureMs: number;
  /** Most datagrams of the caller in a second, and of all callers of its account that exceed `ownDatagramsPerSecond`. */
  readonly datagramsPerSecond: number;
  /** Datagrams that a caller may send whatever its account sends. */
  readonly ownDatagramsPerSecond: number;
}

export const RELAY_LIMITS: RelayLimits = {
  idleMs: 5_000,
  startMs: 5_000,
  backPressureMs: 12_000,
  // 200 Mbit/s of video. At 18 µs each they take a third of the thread.
  datagramsPerSecond: 20_000,
  // 26 Mbit/s.
  ownDatagramsPerSecond: 2_500,
};

// A port is free when it is chosen and may be taken when the receiver binds it.
const RECEIVER_STARTS_MAX = 4;
// Interval of inductions to the receiver until it responds.
const INDUCTION_MS = 40;

/**
 * Relays datagrams between one caller and its receiver unchanged, except for the cookie of the
 * caller's conclusion: the caller has the proxy's cookie, the receiver expects its own.
 */
export class CallerRelay {
  private socket: udp.ConnectedSocket<'buffer'> | null = null;
  private receiver: Receiver;
  private receiverStarts = 0;
  /** The receiver's cookie; null until it responds. */
  private cookie: number | null = null;
  private readonly socketId: number;
  private lastDatagramMs = runtime.monotonicMs();
  private datagramsThisSecond = 0;
  private hasData = false;
  private isEnded = false;
  private readonly inductionTimer: Timer;
  private readonly startTimer: Timer;

  /** @throws Error when ffmpeg cannot be started */
  constructor(private readonly options: CallerRelayOptions) {
    const { port, session, limits, conclusion } = options;
    this.socketId = readHandshake(conclusion)?.socketId ?? 0;
    this.receiver = this.startReceiver(port);
    this.inductionTimer = runtime.setInterval(() => this.sendInduction(), INDUCTION_MS);
    this.startTimer = runtime.setTimeout(
      () => this.fail('the receiver did not start'),
      limits.startMs,
    );
    void session.closed.then(({ message }) => this.end(message));
    this.connect(port).catch(() => this.fail('no socket for the receiver'));
  }

  fromCaller(datagram: Buffer): void {
    this.lastDatagramMs = runtime.monotonicMs();
    const { limits, countOfAccount } = this.options;
    const ofAccount = countOfAccount();
    if (++this.datagramsThisSecond > limits.datagramsPerSecond) {
      this.end('too many datagrams');
      return;
    }
    // Lost, which SRT repeats: one source does not end the others of its account.
    const isOver = ofAccount > limits.datagramsPerSecond;
    if (isOver && this.datagramsThisSecond > limits.ownDatagramsPerSecond) return;
    // Until the receiver responds, the caller only repeats its conclusion, which this relay has.
    if (this.cookie === null) return;
    const isConclusion = readHandshake(datagram)?.type === 'conclusion';
    // Not another one, whose extensions nothing has checked.
    this.send(isConclusion ? withCookie(this.options.conclusion, this.cookie) : datagram);
  }

  /** Called each second. Ends the relay when the caller is silent for too long. */
  checkSecond(): void {
    this.datagramsThisSecond = 0;
    if (runtime.monotonicMs() - this.lastDatagramMs > this.options.limits.idleMs) {
      this.end('timeout: the sender is silent');
    }
  }

  /** Ends the source and shuts the caller's connection down. @param reason for the log */
  end(reason: string, lines: readonly string[] = []): void {
    if (this.isEnded) return;
    this.isEnded = true;
    runtime.clearTimer(this.inductionTimer);
    runtime.clearTimer(this.startTimer);
    this.receiver.stop();
    this.socket?.close();
    const { session, toCaller, onEnd } = this.options;
    toCaller(createShutdown(this.socketId));
    session.end(reason);
    onEnd(reason, lines);
  }

  private fail(reason: string, lines: readonly string[] = []): void {
    if (this.isEnded) return;
    this.options.toCaller(createRejection(this.options.conclusion, REJECTIONS.broken));
    this.end(reason, lines);
  }

  private startReceiver(port: number): Receiver {
    this.receiverStarts++;
    return new Receiver(this.options.ffmpeg, port, {
      onBytes: (bytes) => this.onBytes(bytes),
      onEnd: (lines) => void this.onReceiverEnd(lines),
    });
  }

  private async restartReceiver(): Promise<void> {
    const port = await this.options.nextPort();
    if (this.isEnded) return;
    this.receiver = this.startReceiver(port);
    this.socket?.close();
    this.socket = null;
    await this.connect(port);
  }

  private async connect(port: number): Promise<void> {
    const socket = await Bun.udpSocket({
      hostname: '127.0.0.1',
      connect: { hostname: '127.0.0.1', port },
      socket: {
        data: (_, datagram) => this.fromReceiver(datagram),
        // The receiver does not listen yet, or has exited.
        error: () => {},
      },
    });
    if (this.isEnded) socket.close();
    else this.socket = socket;
  }

  private sendInduction(): void {
    this.send(inductionOf(this.options.conclusion));
  }

  private fromReceiver(datagram: Buffer): void {
    if (this.isEnded) return;
    const handshake = readHandshake(datagram);
    if (handshake?.type === 'induction') {
      if (this.cookie !== null) return;
      this.cookie = handshake.cookie;
      runtime.clearTimer(this.inductionTimer);
      runtime.clearTimer(this.startTimer);
      this.send(withCookie(this.options.conclusion, this.cookie));
      return;
    }
    this.options.toCaller(datagram);
    const code = readRejection(datagram);
    if (code > 0) this.end(`the receiver rejected the sender: ${code}`);
  }

  private send(datagram: Buffer): void {
    if (this.isEnded) return;
    try {
      this.socket?.send(datagram);
    } catch {
      // SRT retransmits lost datagrams.
    }
  }

  /** @returns a promise for the end of back-pressure or of the relay; undefined without any */
  private onBytes(bytes: Uint8Array): Promise<void> | undefined {
    const { session, limits } = this.options;
    this.hasData = true;
    if (this.isEnded || session.write(bytes)) return undefined;
    const slowTimer = runtime.setTimeout(
      () => this.end('the encoder is too slow'),
      limits.backPressureMs,
    );
    return session.drained().finally(() => runtime.clearTimer(slowTimer));
  }

  private async onReceiverEnd(lines: readonly string[]): Promise<void> {
    if (this.isEnded) return;
    if (this.hasData) {
      this.end('the sender left');
      return;
    }
    if (this.cookie !== null || this.receiverStarts === RECEIVER_STARTS_MAX) {
      this.fail('the receiver exited before any data arrived', lines);
      return;
    }
    try {
      await this.restartReceiver();
    } catch (error) {
      this.fail((error as Error).message, lines);
    }
  }
}

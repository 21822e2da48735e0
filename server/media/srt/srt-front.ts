import type { Logger } from 'pino';
import { rateLimitKey } from '../../http/address.ts';
import { KeyWindows } from '../../platform/rate-limit/key-windows.ts';
import { type RateLimit, RateLimiter } from '../../platform/rate-limit/rate-limiter.ts';
import { type Ingest, SourceRefused } from '../source.ts';
import { RELAY_LIMITS, Relay, type RelayLimits } from './relay.ts';
import {
  answerInduction,
  DATAGRAM_BYTES_MAX,
  type Handshake,
  HEADER_BYTES,
  hasStreamIds,
  readHandshake,
  readStreamId,
  refuse,
} from './srt-handshake.ts';
import { CallerRefused, REJECTIONS, refusalOf } from './srt-refusal.ts';
import { readStreamIdRequest } from './stream-id.ts';
import type { SynCookies } from './syn-cookie.ts';

export interface SrtFrontOptions {
  readonly ffmpeg: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly cookies: SynCookies;
  /** A UDP port of this machine that nobody has, nor got here before and still has. */
  readonly freePort: (taken: ReadonlySet<number>) => Promise<number>;
  /** Never throws. */
  readonly send: (datagram: Buffer, port: number, address: string) => void;
  readonly limits?: RelayLimits;
  /** Callers of one address. */
  readonly rate?: RateLimit;
}

// Each has a receiver and an encoder; no machine runs as many.
const CALLERS_MAX = 512;
// Those whose key is being looked up.
const OPENING_MAX = 64;
const OPENING_OF_ADDRESS_MAX = 8;
// A sender whose line is bad comes back every few seconds; one that guesses is slowed.
const RATE: RateLimit = { points: 60, durationS: 60 };
// An answer costs some microseconds and is as long as the question: more are thrown away.
const INDUCTIONS_PER_S = 5_000;
// A caller that has not heard its refusal asks again, for 3 s by default.
const REFUSED_MS = 3_000;
const SWEEP_MS = 1_000;

interface Caller {
  readonly share: string;
  readonly socketId: number;
  state: 'opening' | { readonly refused: number; readonly untilMs: number } | Relay;
}

/** The front of all streams on one UDP port: it knows the callers, libsrt does the rest (M-3). */
export class SrtFront {
  /** By address and port. */
  private readonly callers = new Map<string, Caller>();
  private readonly ports = new Set<number>();
  private readonly rate: RateLimiter;
  private readonly sweep: Timer;
  private inductions = 0;
  private isStopping = false;

  constructor(private readonly options: SrtFrontOptions) {
    this.rate = new RateLimiter('sources from this address', new KeyWindows(options.rate ?? RATE));
    this.sweep = setInterval(() => this.tidy(), SWEEP_MS);
  }

  /** Takes what came, whatever it is. */
  datagram(datagram: Buffer, port: number, address: string): void {
    if (datagram.length < HEADER_BYTES || datagram.length > DATAGRAM_BYTES_MAX) return;
    const caller = this.callers.get(`${address}|${port}`);
    const handshake = readHandshake(datagram);
    if (handshake?.type === 'induction') this.induction(datagram, port, address);
    else if (handshake?.type === 'conclusion' && caller?.socketId !== handshake.socketId) {
      this.conclusion(datagram, handshake, port, address);
    } else if (caller) this.again(caller, datagram, port, address);
  }

  /** Ends all sources, and takes no more. */
  stop(): void {
    this.isStopping = true;
    clearInterval(this.sweep);
    for (const { state } of this.callers.values()) {
      if (state instanceof Relay) state.end('the service is stopping');
    }
    this.callers.clear();
  }

  private induction(datagram: Buffer, port: number, address: string): void {
    if (this.inductions++ >= INDUCTIONS_PER_S) return;
    const { cookies, send } = this.options;
    const cookie = cookies.of(address, port, performance.now());
    send(answerInduction(datagram, cookie), port, address);
  }

  /** What comes of a caller that is known. */
  private again({ state }: Caller, datagram: Buffer, port: number, address: string): void {
    if (state instanceof Relay) state.fromCaller(datagram);
    else if (state !== 'opening' && readHandshake(datagram)) {
      this.options.send(refuse(datagram, state.refused), port, address);
    }
  }

  private conclusion(datagram: Buffer, handshake: Handshake, port: number, address: string): void {
    const { cookies } = this.options;
    if (!cookies.isOf(handshake.cookie, address, port, performance.now())) return;
    const name = `${address}|${port}`;
    const before = this.callers.get(name)?.state;
    // One program cannot have two sockets at a port: the one before is gone.
    if (before instanceof Relay) before.end('the sender began anew');
    if (before === 'opening' || this.isStopping) return;
    const share = rateLimitKey(address);
    if (!this.hasRoom(share)) {
      this.options.send(refuse(datagram, REJECTIONS.overload), port, address);
      return;
    }
    const caller: Caller = { share, socketId: handshake.socketId, state: 'opening' };
    this.callers.set(name, caller);
    void this.open({ name, caller, conclusion: datagram, handshake, port, address });
  }

  private hasRoom(share: string): boolean {
    const opening = [...this.callers.values()].filter(({ state }) => state === 'opening');
    const ofShare = opening.filter((caller) => caller.share === share);
    return (
      this.callers.size < CALLERS_MAX &&
      opening.length < OPENING_MAX &&
      ofShare.length < OPENING_OF_ADDRESS_MAX
    );
  }

  private async open(call: Call): Promise<void> {
    const { caller, conclusion, port, address } = call;
    const plainAddress = address.replace(/^::ffff:/i, '');
    try {
      const key = keyOf(conclusion, call.handshake);
      this.rate.take(caller.share);
      const { ingest } = this.options;
      const session = await ingest.open({
        key,
        kind: 'srt',
        container: 'mpegts',
        address: plainAddress,
      });
      try {
        await this.begin(call, session);
      } catch (error) {
        session.end('there is no receiver');
        throw error;
      }
    } catch (error) {
      const refusal = refusalOf(error);
      const code = refusal?.code ?? REJECTIONS.broken;
      // One that comes too often is not kept: there may be any number of them.
      if (code === REJECTIONS.overload) this.callers.delete(call.name);
      else caller.state = { refused: code, untilMs: performance.now() + REFUSED_MS };
      this.options.send(refuse(conclusion, code), port, address);
      this.logRefused(plainAddress, code, refusal ?? error);
    }
  }

  private async begin(call: Call, session: Awaited<ReturnType<Ingest['open']>>): Promise<void> {
    const { name, caller, conclusion, port, address } = call;
    const { ffmpeg, freePort, send, logger, limits = RELAY_LIMITS } = this.options;
    const receiverPort = await freePort(this.ports);
    if (this.isStopping) {
      throw new SourceRefused('unavailable', 'The service is stopping.');
    }
    this.ports.add(receiverPort);
    const forget = () => {
      this.ports.delete(receiverPort);
      if (this.callers.get(name) === caller) this.callers.delete(name);
    };
    try {
      caller.state = new Relay({
        ffmpeg,
        port: receiverPort,
        conclusion,
        session,
        limits,
        toCaller: (datagram) => send(datagram, port, address),
        onEnd: (reason, lines) => {
          forget();
          if (lines.length > 0) logger.warn({ reason, lines }, 'receiver of SRT ended');
        },
      });
    } catch (error) {
      this.ports.delete(receiverPort);
      throw error;
    }
  }

  private logRefused(address: string, code: number, error: unknown): void {
    const { logger } = this.options;
    const said = { kind: 'srt', address, code };
    if (!(error instanceof CallerRefused)) {
      logger.error({ ...said, err: error }, 'source refused');
    } else if (error.code === REJECTIONS.overload) {
      logger.debug({ ...said, reason: error.message }, 'source refused');
    } else logger.warn({ ...said, reason: error.message }, 'source refused');
  }

  private tidy(): void {
    this.inductions = 0;
    const nowMs = performance.now();
    for (const [name, { state }] of this.callers) {
      if (state instanceof Relay) state.endIfIdle();
      else if (state !== 'opening' && state.untilMs < nowMs) this.callers.delete(name);
    }
  }
}

/** A conclusion that is being decided on. */
interface Call {
  readonly name: string;
  readonly caller: Caller;
  readonly conclusion: Buffer;
  readonly handshake: Handshake;
  readonly port: number;
  readonly address: string;
}

/** The stream key that a caller shows. @throws CallerRefused */
function keyOf(conclusion: Buffer, handshake: Handshake): string {
  if (!hasStreamIds(handshake)) {
    throw new CallerRefused(REJECTIONS.version, 'The sender speaks a version before SRT 1.3.');
  }
  const request = readStreamIdRequest(readStreamId(conclusion));
  if (request === 'play') {
    throw new CallerRefused(REJECTIONS.badMode, 'The caller wants to receive; here it can send.');
  }
  if (request === 'unclear') {
    throw new CallerRefused(REJECTIONS.badRequest, 'The caller has no streamid=publish:KEY.');
  }
  if (handshake.isEncrypted) {
    throw new CallerRefused(
      REJECTIONS.encryption,
      'The sender has a passphrase; send without one.',
    );
  }
  return request.key;
}

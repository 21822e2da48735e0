import type { Logger } from 'pino';
import { clientKey, networkOf, rateLimitKey } from '../../http/address.ts';
import { KeyWindows, type RateLimit, RateLimiter } from '../../platform/rate-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import { type Ingest, SourceRefused, type SourceSession } from '../source.ts';
import { CallerRelay, RELAY_LIMITS, type RelayLimits } from './caller-relay.ts';
import {
  createRejection,
  type Handshake,
  HEADER_BYTES,
  hasPacketFilter,
  hasStreamIds,
  inductionResponse,
  MAX_DATAGRAM_BYTES,
  readHandshake,
  readStreamId,
} from './srt-handshake.ts';
import { CallerRefused, REJECTIONS, refusalOf } from './srt-refusal.ts';
import { readStreamIdRequest } from './stream-id.ts';
import type { SynCookies } from './syn-cookie.ts';

export interface HandshakeProxyOptions {
  readonly ffmpeg: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly cookies: SynCookies;
  /** Finds a free loopback UDP port that is not in `used`. */
  readonly freePort: (used: ReadonlySet<number>) => Promise<number>;
  /** Must not throw. */
  readonly send: (datagram: Buffer, port: number, address: string) => void;
  readonly limits?: RelayLimits;
  /** Rate limit of callers per address. */
  readonly rate?: RateLimit;
}

/** Callers in all, without refused ones. Each has a receiver and an encoder; no machine runs this many. */
export const MAX_CALLERS = 512;
/** Callers whose key is being checked. */
export const MAX_OPENING = 64;
/** Of these, those of one address. */
export const MAX_OPENING_PER_ADDRESS = 8;
// Rejected callers whose rejection can be repeated. They take no place of other callers.
const MAX_REFUSED = 512;
// Allows a reconnect every second; slows down key guessing.
const RATE: RateLimit = { points: 60, durationS: 60 };
// Handshakes of one client, so that it does not use up what follows. Sixty senders behind one address that
// reconnect at once send 240 a second.
const HANDSHAKE_RATE: RateLimit = { points: 300, durationS: 1 };
/**
 * First handshakes of all callers per second, to limit CPU time. Further ones are dropped, and callers repeat them. A
 * response is as long as its request.
 */
export const MAX_INDUCTIONS_PER_SECOND = 5_000;
/** Second handshakes of all callers per second, which name the key. Further ones are dropped, too. */
export const MAX_CONCLUSIONS_PER_SECOND = 5_000;
// A caller that misses its rejection repeats the conclusion, for 3 s by default.
const REJECTION_REPEAT_MS = 3_000;
const CLEANUP_MS = 1_000;

interface Caller {
  readonly rateLimitGroup: string;
  readonly socketId: number;
  state: 'opening' | RefusedState | CallerRelay;
}

/** The rejection code that a caller gets again, until this time of the monotonic clock. */
interface RefusedState {
  readonly refused: number;
  readonly untilMs: number;
}

/**
 * Handles the SRT handshakes of all callers on one UDP port (M-3): checks cookie and stream key, then
 * relays each accepted caller to its own libsrt receiver.
 */
export class HandshakeProxy {
  /** By `address|port`. */
  private readonly callers = new Map<string, Caller>();
  private readonly receiverPorts = new Set<number>();
  private readonly rate: RateLimiter;
  /** By `clientKey`. */
  private readonly handshakes = new KeyWindows(HANDSHAKE_RATE);
  private readonly cleanupTimer: Timer;
  private inductionsThisSecond = 0;
  private conclusionsThisSecond = 0;
  /** Of the callers of each account. */
  private readonly datagramsThisSecond = new Map<string, number>();
  private isStopping = false;

  constructor(private readonly options: HandshakeProxyOptions) {
    const windows = new KeyWindows(options.rate ?? RATE, { networkOf });
    this.rate = new RateLimiter('sources from this address', windows);
    this.cleanupTimer = runtime.setInterval(() => this.cleanUp(), CLEANUP_MS);
  }

  /** Handles any received datagram. */
  receive(datagram: Buffer, port: number, address: string): void {
    if (datagram.length < HEADER_BYTES || datagram.length > MAX_DATAGRAM_BYTES) return;
    const caller = this.callers.get(`${address}|${port}`);
    const handshake = readHandshake(datagram);
    const isOfNewSocket = handshake !== null && opensSocket(handshake, caller);
    if (caller?.state instanceof CallerRelay && !isOfNewSocket) caller.state.fromCaller(datagram);
    else if (handshake !== null && this.isWithinHandshakeRate(address)) {
      this.onHandshake(handshake, datagram, port, address);
    }
  }

  /** Ends all sources; later conclusions are ignored. */
  stop(): void {
    this.isStopping = true;
    runtime.clearTimer(this.cleanupTimer);
    for (const { state } of this.callers.values()) {
      if (state instanceof CallerRelay) state.end('the service is stopping');
    }
    this.callers.clear();
  }

  private isWithinHandshakeRate(address: string): boolean {
    const key = clientKey(rateLimitKey(address));
    return this.handshakes.take(key, runtime.monotonicMs()) === 0;
  }

  private onHandshake(handshake: Handshake, datagram: Buffer, port: number, address: string): void {
    const caller = this.callers.get(`${address}|${port}`);
    if (handshake.type === 'induction') this.onInduction(datagram, port, address);
    else if (opensSocket(handshake, caller)) this.admit(datagram, handshake, port, address);
    else if (caller && isRefused(caller))
      this.options.send(createRejection(datagram, caller.state.refused), port, address);
  }

  private onInduction(datagram: Buffer, port: number, address: string): void {
    if (this.inductionsThisSecond++ >= MAX_INDUCTIONS_PER_SECOND) return;
    const { cookies, send } = this.options;
    const cookie = cookies.create(address, port, runtime.monotonicMs());
    send(inductionResponse(datagram, cookie), port, address);
  }

  private admit(datagram: Buffer, handshake: Handshake, port: number, address: string): void {
    if (this.conclusionsThisSecond++ >= MAX_CONCLUSIONS_PER_SECOND) return;
    const { cookies } = this.options;
    if (!cookies.verify(handshake.cookie, address, port, runtime.monotonicMs())) return;
    const name = `${address}|${port}`;
    const previous = this.callers.get(name)?.state;
    // A new socket id on the same address and port: the previous socket is closed.
    if (previous instanceof CallerRelay) previous.end('the sender reconnected');
    if (previous === 'opening' || this.isStopping) return;
    const rateLimitGroup = rateLimitKey(address);
    if (!this.isWithinLimits(rateLimitGroup)) {
      this.options.send(createRejection(datagram, REJECTIONS.overload), port, address);
      return;
    }
    const caller: Caller = { rateLimitGroup, socketId: handshake.socketId, state: 'opening' };
    this.callers.set(name, caller);
    void this.open({ name, caller, conclusion: datagram, handshake, port, address });
  }

  private isWithinLimits(rateLimitGroup: string): boolean {
    const admitted = [...this.callers.values()].filter((caller) => !isRefused(caller));
    const opening = admitted.filter(({ state }) => state === 'opening');
    const inGroup = opening.filter((caller) => caller.rateLimitGroup === rateLimitGroup);
    return (
      admitted.length < MAX_CALLERS &&
      opening.length < MAX_OPENING &&
      inGroup.length < MAX_OPENING_PER_ADDRESS
    );
  }

  private async open(call: OpeningCall): Promise<void> {
    const { caller, conclusion, port, address } = call;
    const plainAddress = address.replace(/^::ffff:/i, '');
    try {
      this.rate.take(caller.rateLimitGroup);
      const key = keyOf(conclusion, call.handshake);
      const source = { key, kind: 'srt', container: 'mpegts', address: plainAddress } as const;
      const session = await this.options.ingest.open(source);
      try {
        await this.startRelay(call, session);
      } catch (error) {
        session.end('the receiver failed');
        throw error;
      }
    } catch (error) {
      const refusal = refusalOf(error);
      const code = refusal?.code ?? REJECTIONS.broken;
      // Rate limited callers are not remembered, since their number is unbounded.
      if (code === REJECTIONS.overload || this.refusedCount() >= MAX_REFUSED)
        this.callers.delete(call.name);
      else caller.state = { refused: code, untilMs: runtime.monotonicMs() + REJECTION_REPEAT_MS };
      this.options.send(createRejection(conclusion, code), port, address);
      this.logRefused(plainAddress, code, refusal ?? error);
    }
  }

  private async startRelay(call: OpeningCall, session: SourceSession): Promise<void> {
    const { name, caller, conclusion, port, address } = call;
    const { ffmpeg, freePort, send, logger, limits = RELAY_LIMITS } = this.options;
    let receiverPort = await freePort(this.receiverPorts);
    if (this.isStopping) throw new SourceRefused('unavailable', 'The service is stopping.');
    this.receiverPorts.add(receiverPort);
    try {
      caller.state = new CallerRelay({
        ffmpeg,
        port: receiverPort,
        nextPort: async () => {
          const next = await freePort(this.receiverPorts);
          this.receiverPorts.delete(receiverPort);
          this.receiverPorts.add(next);
          receiverPort = next;
          return next;
        },
        conclusion,
        session,
        limits,
        toCaller: (datagram) => send(datagram, port, address),
        countOfAccount: () => this.countDatagram(session.producer),
        onEnd: (reason, lines) => {
          this.receiverPorts.delete(receiverPort);
          if (this.callers.get(name) === caller) this.callers.delete(name);
          if (lines.length > 0) logger.warn({ reason, lines }, 'SRT receiver ended');
        },
      });
    } catch (error) {
      this.receiverPorts.delete(receiverPort);
      throw error;
    }
  }

  private refusedCount(): number {
    return [...this.callers.values()].filter(isRefused).length;
  }

  private logRefused(address: string, code: number, error: unknown): void {
    const { logger } = this.options;
    const fields = { kind: 'srt', address, code };
    if (!(error instanceof CallerRefused)) {
      logger.error({ ...fields, err: error }, 'source refused');
    } else if (error.code === REJECTIONS.overload) {
      logger.debug({ ...fields, reason: error.message }, 'source refused');
    } else logger.warn({ ...fields, reason: error.message }, 'source refused');
  }

  /** By account: it has two sources for each processor, and each could take a third of the thread. */
  private countDatagram(producer: string): number {
    const count = (this.datagramsThisSecond.get(producer) ?? 0) + 1;
    this.datagramsThisSecond.set(producer, count);
    return count;
  }

  private cleanUp(): void {
    this.inductionsThisSecond = 0;
    this.conclusionsThisSecond = 0;
    this.datagramsThisSecond.clear();
    const nowMs = runtime.monotonicMs();
    for (const [name, { state }] of this.callers) {
      if (state instanceof CallerRelay) state.checkSecond();
      else if (state !== 'opening' && state.untilMs < nowMs) this.callers.delete(name);
    }
  }
}

function isRefused(caller: Caller): caller is Caller & { readonly state: RefusedState } {
  return caller.state !== 'opening' && !(caller.state instanceof CallerRelay);
}

/** Whether a caller sent this for a socket that is not open yet. @param caller of the same address and port */
function opensSocket({ type, socketId }: Handshake, caller: Caller | undefined): boolean {
  return type === 'induction' || (type === 'conclusion' && socketId !== caller?.socketId);
}

/** A conclusion that is being checked. */
interface OpeningCall {
  readonly name: string;
  readonly caller: Caller;
  readonly conclusion: Buffer;
  readonly handshake: Handshake;
  readonly port: number;
  readonly address: string;
}

/** Reads the caller's stream key. @throws CallerRefused */
function keyOf(conclusion: Buffer, handshake: Handshake): string {
  if (!hasStreamIds(handshake)) {
    throw new CallerRefused(REJECTIONS.version, 'The sender uses a version before SRT 1.3.');
  }
  const request = readStreamIdRequest(readStreamId(conclusion));
  if (request === 'play') {
    throw new CallerRefused(
      REJECTIONS.badMode,
      'The caller wants to receive; only sending is supported.',
    );
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
  // The receiver would allocate what the sender's filter asks for: over 1 GB by 150 bytes.
  if (hasPacketFilter(conclusion)) {
    throw new CallerRefused(
      REJECTIONS.badRequest,
      'The sender has a packet filter (FEC); send without one.',
    );
  }
  return request.key;
}

import { clientKey } from '../../http/address.ts';
import { Fifo } from '../../platform/fifo.ts';
import { KeyWindows } from '../../platform/rate-limiter.ts';
import { WaitingConnections } from '../waiting-connections.ts';
import type { RtmpConnection } from './rtmp-connection.ts';
import type { RtmpLimits } from './rtmp-limits.ts';

/**
 * All connections; more than a machine can encode. A further one replaces one without a source: silent
 * connections and refused ones from a few addresses must not keep all sources out.
 */
const MAX_CONNECTIONS = 512;
/** Connections per address that are not live. */
const MAX_PENDING_PER_ADDRESS = 16;

export type AdmittedConnection = Pick<RtmpConnection, 'isLive' | 'isReplaceable' | 'closeAtOnce'>;

/** Accounting of an open connection for the limits of its address. */
interface Slot {
  readonly rateLimitGroup: string;
  isPending: boolean;
}

/** A closed connection that still counts for its address. */
interface ClosedSlot {
  readonly rateLimitGroup: string;
  /** Monotonic close time, ms. */
  readonly closedMs: number;
}

/**
 * Admits RTMP connections (M-16). It counts instead of looking at all of them: with 512, a look took
 * 0.15 to 0.4 ms of the thread for each new connection.
 */
export class RtmpAdmission<Connection extends AdmittedConnection> {
  private readonly slots = new Map<Connection, Slot>();
  private readonly closed = new Fifo<ClosedSlot>();
  /** Connections that are not live, those of `closed` included. */
  private readonly pendingByAddress = new Map<string, number>();
  private readonly replaceable = new WaitingConnections<Connection>();
  /** By `clientKey`. */
  private readonly connects: KeyWindows;

  /** @param nowMs monotonic clock, ms */
  constructor(
    private readonly limits: RtmpLimits,
    private readonly nowMs: () => number,
  ) {
    this.connects = new KeyWindows({ points: limits.connectionsPerSecond, durationS: 1 });
  }

  /** The open connections. */
  connections(): Iterable<Connection> {
    return this.slots.keys();
  }

  /** Counts an attempt to connect. @returns whether there is room for one more connection of this address */
  makeRoom(rateLimitGroup: string): boolean {
    const nowMs = this.nowMs();
    if (this.connects.take(clientKey(rateLimitGroup), nowMs) > 0) return false;
    this.removeExpired(nowMs);
    const pending = this.pendingByAddress.get(rateLimitGroup) ?? 0;
    if (pending >= MAX_PENDING_PER_ADDRESS) return false;
    if (this.slots.size < MAX_CONNECTIONS) return true;
    const replaced = this.replaceable.longestWaiting();
    if (replaced === null) return false;
    replaced.closeAtOnce('too many connections');
    // Now, because the event follows later: the next connection must replace another one.
    this.release(replaced);
    return true;
  }

  /** Adds a connection after `makeRoom`. */
  add(connection: Connection, rateLimitGroup: string): void {
    this.slots.set(connection, { rateLimitGroup, isPending: false });
    this.onPhaseChange(connection);
  }

  /** Call when a connection enters another phase. */
  onPhaseChange(connection: Connection): void {
    const slot = this.slots.get(connection);
    if (!slot) return;
    const isPending = !connection.isLive();
    if (isPending !== slot.isPending) this.countPending(slot.rateLimitGroup, isPending ? 1 : -1);
    slot.isPending = isPending;
    if (connection.isReplaceable()) this.replaceable.add(connection, slot.rateLimitGroup);
    else this.replaceable.delete(connection);
  }

  /** Call when the socket of a connection has closed. */
  release(connection: Connection): void {
    const slot = this.slots.get(connection);
    if (!slot) return;
    this.slots.delete(connection);
    this.replaceable.delete(connection);
    const { rateLimitGroup, isPending } = slot;
    if (isPending) this.closed.push({ rateLimitGroup, closedMs: this.nowMs() });
  }

  private removeExpired(nowMs: number): void {
    const { closedHoldMs } = this.limits;
    for (let slot = this.closed.first(); slot; slot = this.closed.first()) {
      if (nowMs - slot.closedMs < closedHoldMs) return;
      this.closed.shift();
      this.countPending(slot.rateLimitGroup, -1);
    }
  }

  private countPending(rateLimitGroup: string, change: 1 | -1): void {
    const pending = (this.pendingByAddress.get(rateLimitGroup) ?? 0) + change;
    if (pending > 0) this.pendingByAddress.set(rateLimitGroup, pending);
    else this.pendingByAddress.delete(rateLimitGroup);
  }
}

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { rateLimitKey } from '../../http/address.ts';
import { runtime } from '../../platform/runtime.ts';
import { longestWaiting, type Waiting } from '../longest-waiting.ts';
import type { Ingest } from '../source.ts';
import { HANDSHAKE_BYTES } from './handshake.ts';
import { FAILED, RtmpConnection } from './rtmp-connection.ts';
import { RTMP_LIMITS, type RtmpLimits } from './rtmp-limits.ts';

/**
 * All connections; more than a machine can encode. A further one replaces one without a source: silent
 * connections and refused ones from a few addresses must not keep all sources out.
 */
const MAX_CONNECTIONS = 512;
/** Connections per address that are not live. */
const MAX_PENDING_PER_ADDRESS = 16;
const TIMEOUT_CHECK_MS = 250;

export interface RtmpOptions {
  /** Null listens on all addresses. */
  readonly host: string | null;
  /** 0 selects a free port. */
  readonly port: number;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits?: RtmpLimits;
}

export interface RtmpListener {
  readonly port: number;
  /** Ends all sources and closes the port. */
  stop(): Promise<void>;
}

/** Accounting of a connection for the limits of its address. */
interface Slot {
  readonly rateLimitGroup: string;
  /** Monotonic close time, ms; null while open. */
  closedMs: number | null;
}

/**
 * Listens for RTMP sources (SPEC M-2).
 * @throws Error with a one-line message for the operator when the port cannot be opened
 */
export async function listenRtmp(options: RtmpOptions): Promise<RtmpListener> {
  const connections = new Map<RtmpConnection, Slot>();
  const limits = options.limits ?? RTMP_LIMITS;
  const nowMs = () => runtime.monotonicMs();

  /** @returns whether there is room for one more connection of this address */
  function makeRoom(rateLimitGroup: string): boolean {
    let open = 0;
    let pending = 0;
    for (const [connection, slot] of connections) {
      if (slot.closedMs === null) open++;
      if (slot.rateLimitGroup === rateLimitGroup && !connection.isLive() && !isExpired(slot))
        pending++;
    }
    if (pending >= MAX_PENDING_PER_ADDRESS) return false;
    if (open < MAX_CONNECTIONS) return true;
    const replaced = longestWaiting(replaceable());
    if (replaced === null) return false;
    const [connection, slot] = replaced;
    connection.closeAtOnce('too many connections');
    // Now, because the event follows later: the next connection must replace another one.
    slot.closedMs = nowMs();
    return true;
  }

  function* replaceable(): Iterable<Waiting<[RtmpConnection, Slot]>> {
    for (const [connection, slot] of connections) {
      const { rateLimitGroup, closedMs } = slot;
      if (closedMs === null && connection.isReplaceable())
        yield { connection: [connection, slot], rateLimitGroup };
    }
  }

  function isExpired({ closedMs }: Slot): boolean {
    return closedMs !== null && nowMs() - closedMs >= limits.closedHoldMs;
  }

  function checkTimeouts(): void {
    for (const [connection, slot] of connections) {
      if (isExpired(slot)) connections.delete(connection);
      else connection.checkTimeouts();
    }
  }

  function accept(socket: Socket): void {
    const address = socket.remoteAddress?.replace(/^::ffff:/i, '') ?? 'unknown';
    const rateLimitGroup = rateLimitKey(address);
    if (!makeRoom(rateLimitGroup)) {
      socket.on('error', () => {});
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    const connection = new RtmpConnection(socket, {
      address,
      ingest: options.ingest,
      logger: options.logger,
      limits,
      nowMs,
      random: () => runtime.randomBytes(HANDSHAKE_BYTES),
    });
    const slot: Slot = { rateLimitGroup, closedMs: null };
    connections.set(connection, slot);
    socket.on('close', () => {
      slot.closedMs = nowMs();
    });
  }

  const server = createServer({ allowHalfOpen: true }, accept);
  await startListening(server, options);
  const timeoutTimer = runtime.setInterval(checkTimeouts, TIMEOUT_CHECK_MS);
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections.keys()) {
        connection.closeWithError('The service is stopping; connect again.', FAILED);
      }
      // The timeout check runs on until all peers have closed or timed out.
      await closed;
      runtime.clearTimer(timeoutTimer);
    },
  };
}

function startListening(server: Server, { host, port }: RtmpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      reject(new Error(messageFor(error, host, port)));
    });
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      // A later error concerns a single connection that could not be accepted.
      server.on('error', () => {});
      resolve();
    });
  });
}

function messageFor(error: Error & { code?: string }, host: string | null, port: number): string {
  if (error.code === 'EADDRINUSE') {
    return `port ${port} is in use; stop what uses it, or choose another with --rtmp-port`;
  }
  const addressText = host === null ? 'every address' : `--host ${host}`;
  return `cannot listen for RTMP on ${addressText}, port ${port}: ${error.message}`;
}

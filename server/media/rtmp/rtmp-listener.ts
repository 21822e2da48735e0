import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { shareOf } from '../../http/address.ts';
import type { Ingest } from '../source.ts';
import { HANDSHAKE_BYTES } from './handshake.ts';
import { RtmpConnection } from './rtmp-connection.ts';
import { RTMP_LIMITS, type RtmpLimits } from './rtmp-limits.ts';
import { FAILED } from './status-codes.ts';

/** Sources in service and those that come: more than a machine can encode. */
const CONNECTIONS_MAX = 512;
/** Connections of one address that are no source yet. */
const STRANGERS_PER_ADDRESS_MAX = 16;
/** How often connections are looked at for whether they have waited long enough. */
const LOOK_MS = 250;

export interface RtmpOptions {
  /** Null: every address of the machine. */
  readonly host: string | null;
  /** 0: any that is free. */
  readonly port: number;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits?: RtmpLimits;
}

export interface RtmpListener {
  readonly port: number;
  /** Ends all sources and takes no more. */
  stop(): Promise<void>;
}

/** A connection's place among those of its address. */
interface Place {
  readonly share: string;
  /** When it was closed; null while it is open. */
  closedMs: number | null;
}

/**
 * Listens for sources that come by RTMP (SPEC M-2).
 * @throws Error with a line for the operator: the port is in use, or not ours to take
 */
export async function listenRtmp(options: RtmpOptions): Promise<RtmpListener> {
  const connections = new Map<RtmpConnection, Place>();
  const limits = options.limits ?? RTMP_LIMITS;
  const nowMs = () => performance.now();

  /** Whether there is room for another connection of an address. */
  function hasRoom(share: string): boolean {
    let open = 0;
    let strangers = 0;
    for (const [connection, place] of connections) {
      if (place.closedMs === null) open++;
      if (place.share === share && !connection.isLive() && !hasRested(place)) strangers++;
    }
    return open < CONNECTIONS_MAX && strangers < STRANGERS_PER_ADDRESS_MAX;
  }

  function hasRested({ closedMs }: Place): boolean {
    return closedMs !== null && nowMs() - closedMs >= limits.restMs;
  }

  function look(): void {
    for (const [connection, place] of connections) {
      if (hasRested(place)) connections.delete(connection);
      else connection.look();
    }
  }

  function accept(socket: Socket): void {
    const address = socket.remoteAddress?.replace(/^::ffff:/i, '') ?? 'unknown';
    const share = shareOf(address);
    if (!hasRoom(share)) {
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
      random: () => randomBytes(HANDSHAKE_BYTES),
    });
    const place: Place = { share, closedMs: null };
    connections.set(connection, place);
    socket.on('close', () => {
      place.closedMs = nowMs();
    });
  }

  const server = createServer({ allowHalfOpen: true }, accept);
  await listening(server, options);
  const looking = setInterval(look, LOOK_MS);
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections.keys()) {
        connection.leave('The service stops; send again.', FAILED);
      }
      // Goes on looking until all have heard it, or have taken too long to.
      await closed;
      clearInterval(looking);
    },
  };
}

function listening(server: Server, { host, port }: RtmpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      reject(new Error(lineFor(error, host, port)));
    });
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      // What fails later is one connection that could not be taken.
      server.on('error', () => {});
      resolve();
    });
  });
}

function lineFor(error: Error & { code?: string }, host: string | null, port: number): string {
  if (error.code === 'EADDRINUSE') {
    return `port ${port} is in use; stop what uses it, or choose another with --rtmp-port`;
  }
  const where = host === null ? 'every address' : `--host ${host}`;
  return `cannot listen for RTMP on ${where}, port ${port}: ${error.message}`;
}

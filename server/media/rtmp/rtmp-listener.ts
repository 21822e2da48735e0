import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { networkOf, rateLimitKey } from '../../http/address.ts';
import { KeyWindows } from '../../platform/rate-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Ingest } from '../source.ts';
import { HANDSHAKE_BYTES } from './handshake.ts';
import { RtmpAdmission } from './rtmp-admission.ts';
import { FAILED, RtmpConnection } from './rtmp-connection.ts';
import { RTMP_LIMITS, type RtmpLimits } from './rtmp-limits.ts';

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

/**
 * Listens for RTMP sources (SPEC M-2).
 * @throws Error with a one-line message for the operator when the port cannot be opened
 */
export async function listenRtmp(options: RtmpOptions): Promise<RtmpListener> {
  const limits = options.limits ?? RTMP_LIMITS;
  const nowMs = () => runtime.monotonicMs();
  const unknownKeys = new KeyWindows(
    { points: limits.unknownKeysPerMinute, durationS: 60 },
    { networkOf },
  );
  const admission = new RtmpAdmission<RtmpConnection>(limits, nowMs);

  function checkTimeouts(): void {
    for (const connection of admission.connections()) connection.checkTimeouts();
  }

  function accept(socket: Socket): void {
    const address = socket.remoteAddress?.replace(/^::ffff:/i, '') ?? 'unknown';
    const rateLimitGroup = rateLimitKey(address);
    if (!admission.makeRoom(rateLimitGroup)) {
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
      mayOpen: () => unknownKeys.peek(rateLimitGroup, nowMs()) === 0,
      onUnknownKey: () => void unknownKeys.take(rateLimitGroup, nowMs()),
      nowMs,
      random: () => runtime.randomBytes(HANDSHAKE_BYTES),
      onPhaseChange: () => admission.onPhaseChange(connection),
    });
    admission.add(connection, rateLimitGroup);
    socket.on('close', () => admission.release(connection));
  }

  const server = createServer({ allowHalfOpen: true }, accept);
  await startListening(server, options);
  const timeoutTimer = runtime.setInterval(checkTimeouts, TIMEOUT_CHECK_MS);
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of admission.connections()) {
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

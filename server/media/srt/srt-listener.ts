import type { Logger } from 'pino';
import { LogLimiter } from '../../platform/log-limiter.ts';
import { programEnvironment } from '../../platform/program-environment.ts';
import type { RateLimit } from '../../platform/rate-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Ingest } from '../source.ts';
import { BoundedUdp } from './bounded-udp.ts';
import type { RelayLimits } from './caller-relay.ts';
import { HandshakeProxy } from './handshake-proxy.ts';
import { SynCookies } from './syn-cookie.ts';

export interface ListenSrtOptions {
  /** Null listens on all addresses, IPv6 included where available. */
  readonly host: string | null;
  /** 0 selects a free port. */
  readonly port: number;
  /** Name or path of the program. */
  readonly ffmpeg: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits?: RelayLimits;
  readonly rate?: RateLimit;
  /** Replaces the search for a free loopback port in tests. */
  readonly freePort?: (used: ReadonlySet<number>) => Promise<number>;
}

export interface SrtListener {
  readonly port: number;
  /** Ends all sources and closes the port. */
  stop(): void;
}

const SECRET_BYTES = 32;

/**
 * Listens for SRT sources, all on one UDP port (SPEC M-3).
 * @throws Error with a one-line message for the operator: no ffmpeg with SRT, or the port is in use
 */
export async function listenSrt(options: ListenSrtOptions): Promise<SrtListener> {
  const { host, port, ffmpeg, logger } = options;
  await checkProtocol(ffmpeg);
  let socket: BoundedUdp | null = null;
  const logged = new LogLimiter<'flood' | 'bind'>();
  const proxy = new HandshakeProxy({
    freePort: findFreePort,
    ...options,
    cookies: new SynCookies(runtime.randomBytes(SECRET_BYTES)),
    send: (datagram, to, address) => socket?.send(datagram, to, address),
  });
  try {
    socket = await BoundedUdp.bind({
      ...{ host, port },
      onDatagram: (datagram, from, address) => proxy.receive(datagram, from, address),
      onFlood: () => {
        const count = logged.countToLog('flood');
        if (count > 0) logger.warn({ count }, 'too many SRT datagrams: some are dropped');
      },
      onBindError: (error) => {
        const count = logged.countToLog('bind');
        if (count > 0)
          logger.error({ count, err: error }, 'the SRT port is closed: binding it again failed');
      },
    });
  } catch (error) {
    proxy.stop();
    throw errorFor(error, options);
  }
  const { port: boundPort } = socket;
  return {
    port: boundPort,
    stop() {
      proxy.stop();
      socket?.close();
      socket = null;
    },
  };
}

const MAX_ATTEMPTS = 10;

/** Finds a free UDP port on loopback. @throws Error when there is none */
export async function findFreePort(used: ReadonlySet<number>): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const socket = await Bun.udpSocket({ hostname: '127.0.0.1', port: 0 });
    const { port } = socket;
    socket.close();
    if (!used.has(port)) return port;
  }
  throw new Error('no free UDP port for a receiver');
}

// Ends a program that is not ffmpeg and waits for input.
const PROBE_TIMEOUT_MS = 10_000;

async function checkProtocol(ffmpeg: string): Promise<void> {
  let protocols: string;
  try {
    const probe = Bun.spawn([ffmpeg, '-hide_banner', '-protocols'], {
      env: programEnvironment(),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: PROBE_TIMEOUT_MS,
    });
    protocols = await probe.stdout.text();
  } catch {
    throw new Error(`no SRT: ${ffmpeg} was not found; install ffmpeg (apt install ffmpeg)`);
  }
  if (!/^\s*srt\s*$/m.test(protocols)) {
    throw new Error(`no SRT: ${ffmpeg} is built without it; install one with libsrt`);
  }
}

function errorFor(error: unknown, { host, port }: ListenSrtOptions): Error {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'EADDRINUSE') {
    return new Error(
      `no SRT: UDP port ${port} is in use; stop what uses it, or choose another with --srt-port`,
    );
  }
  const addressText = host === null ? 'every address' : `--host ${host}`;
  return new Error(`no SRT: cannot listen on ${addressText}, UDP port ${port}: ${message}`);
}

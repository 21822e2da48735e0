import { randomBytes } from 'node:crypto';
import type { udp } from 'bun';
import type { Logger } from 'pino';
import type { RateLimit } from '../../platform/rate-limit/rate-limiter.ts';
import type { Ingest } from '../source.ts';
import type { RelayLimits } from './relay.ts';
import { SrtFront } from './srt-front.ts';
import { SynCookies } from './syn-cookie.ts';

export interface ListenSrtOptions {
  /** null: every address, IPv6 too where there is any. */
  readonly host: string | null;
  /** 0: a free one. */
  readonly port: number;
  /** The program. */
  readonly ffmpeg: string;
  readonly ingest: Ingest;
  readonly logger: Logger;
  readonly limits?: RelayLimits;
  readonly rate?: RateLimit;
}

/** A listener for SRT. */
export interface SrtListener {
  readonly port: number;
  /** Ends all sources and gives the port free. */
  stop(): void;
}

const SECRET_BYTES = 32;

/**
 * Takes sources that come by SRT, all at one UDP port (SPEC M-3).
 * @throws Error with a line for the operator: no ffmpeg with SRT, or the port is in use
 */
export async function listenSrt(options: ListenSrtOptions): Promise<SrtListener> {
  const { host, port, ffmpeg } = options;
  await checkProtocol(ffmpeg);
  let socket: udp.Socket<'buffer'> | null = null;
  const front = new SrtFront({
    ...options,
    cookies: new SynCookies(randomBytes(SECRET_BYTES)),
    freePort,
    send: (datagram, to, address) => {
      try {
        socket?.send(datagram, to, address);
      } catch {
        // No way to that address, or the socket is closed: as lost as any datagram may be.
      }
    },
  });
  try {
    socket = await bound(host, port, (...datagram) => front.datagram(...datagram));
  } catch (error) {
    front.stop();
    throw lineOf(error, options);
  }
  const { port: boundPort } = socket;
  return {
    port: boundPort,
    stop() {
      front.stop();
      socket?.close();
      socket = null;
    },
  };
}

type OnDatagram = (datagram: Buffer, port: number, address: string) => void;

async function bound(
  host: string | null,
  port: number,
  onDatagram: OnDatagram,
): Promise<udp.Socket<'buffer'>> {
  const open = (hostname: string) =>
    Bun.udpSocket({
      hostname,
      port,
      socket: {
        data: (_, datagram, from, address) => onDatagram(datagram, from, address),
        // A datagram of ours did not arrive.
        error: () => {},
      },
    });
  if (host !== null) return open(host);
  try {
    return await open('::');
  } catch (error) {
    if ((error as { code?: string }).code !== 'EAFNOSUPPORT') throw error;
    return open('0.0.0.0');
  }
}

const TRIES_MAX = 10;

/** @throws Error when there is none */
async function freePort(taken: ReadonlySet<number>): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const socket = await Bun.udpSocket({ hostname: '127.0.0.1', port: 0 });
    const { port } = socket;
    socket.close();
    if (!taken.has(port)) return port;
  }
  throw new Error('there is no free UDP port for a receiver');
}

// For a program that is no ffmpeg, and waits for something.
const ASKED_MS = 10_000;

async function checkProtocol(ffmpeg: string): Promise<void> {
  let protocols: string;
  try {
    const asked = Bun.spawn([ffmpeg, '-hide_banner', '-protocols'], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: ASKED_MS,
    });
    protocols = await asked.stdout.text();
  } catch {
    throw new Error(`no SRT: there is no ${ffmpeg}; install ffmpeg (apt install ffmpeg)`);
  }
  if (!/^\s*srt\s*$/m.test(protocols)) {
    throw new Error(`no SRT: ${ffmpeg} is built without it; install one with libsrt`);
  }
}

function lineOf(error: unknown, { host, port }: ListenSrtOptions): Error {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'EADDRINUSE') {
    return new Error(
      `no SRT: UDP port ${port} is in use; stop what uses it, or choose another with --srt-port`,
    );
  }
  const where = host === null ? 'every address' : `--host ${host}`;
  return new Error(`no SRT: cannot listen on ${where}, UDP port ${port}: ${message}`);
}

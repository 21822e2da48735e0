import { networkInterfaces } from 'node:os';
import type { BunRequest, Server, WebSocketHandler } from 'bun';
import type { ReadOnlyOptions } from './read-only.ts';
import { baseHeaders } from './route.ts';
import { BROKEN, type PathHandler, problemResponse } from './router.ts';

/** A path where requests become sockets; nothing comes back when one has. */
export type SocketPath<Data> = (
  request: BunRequest<string>,
  server: Server<Data>,
) => Promise<Response | undefined>;

/** Sockets, and where they are opened. */
export interface Sockets<Data> {
  readonly paths: Record<string, SocketPath<Data>>;
  readonly handlers: WebSocketHandler<Data>;
}

export interface ListenOptions<Data> extends ReadOnlyOptions {
  /** null: every address, IPv6 too where there is any. */
  readonly host: string | null;
  /** 0: a free one. */
  readonly port: number;
  readonly routes: Record<string, PathHandler>;
  /** Answers what no route does. */
  readonly fetch: (request: Request) => Response;
  readonly sockets?: Sockets<Data> | undefined;
}

// Bun counts in steps of 4 s: a connection that says nothing, or drips its headers, is closed
// after 12 s (L-3). Held requests and event streams are heard from more often than that.
const IDLE_TIMEOUT_S = 10;

// Where no request becomes one.
const NO_SOCKETS: WebSocketHandler<never> = { message: () => {} };

/** Begins to answer. @throws Error with a line for the operator when the port cannot be had */
export function listen<Data>(options: ListenOptions<Data>): Server<Data> {
  const { host, port, fetch, sockets, corsOrigin, log } = options;
  const routes = { ...options.routes, ...sockets?.paths };
  try {
    return Bun.serve<Data, string>({
      hostname: host ?? everyAddress(),
      port,
      routes,
      fetch,
      websocket: sockets?.handlers ?? NO_SOCKETS,
      idleTimeout: IDLE_TIMEOUT_S,
      // The router answers 413 itself, in JSON, by the announced length. A body that is not read
      // is thrown away as it comes: posts of 500 MB do not make the process grow.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // The runtime's own page about an error shows source text to whoever asked.
      development: false,
      // Outside of development the runtime would let two servers share a port without a word.
      reusePort: false,
      // Every route has a guard of its own; this is for a defect in a guard.
      error(error) {
        const unknown = new Request('http://localhost/');
        const requestId = log.requestId(unknown);
        log.broken({ method: 'GET', path: 'unknown' }, requestId, error);
        return problemResponse(BROKEN, unknown, baseHeaders('OPTIONS', corsOrigin), requestId);
      },
    });
  } catch (error) {
    throw new Error(reasonOf(error as Error, host, port));
  }
}

// Without a name the runtime would listen on IPv4 alone, without a word, when another process has
// the port on IPv6.
function everyAddress(): string {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.family === 'IPv6') ? '::' : '0.0.0.0';
}

// Of a name that it cannot resolve the runtime says what the last call said that failed, which may
// be EADDRINUSE. So the code counts only when the host has any port at all.
function reasonOf(
  { message, code }: Error & { code?: string },
  host: string | null,
  port: number,
): string {
  if (host !== null && !isOurs(host)) {
    return `cannot listen on --host ${host}, port ${port}: this is no name or address of this machine`;
  }
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use; stop what uses it, or choose another with --port`;
  }
  const where = host === null ? 'every address' : `--host ${host}`;
  return `cannot listen on ${where}, port ${port}: ${message}`;
}

function isOurs(hostname: string): boolean {
  try {
    Bun.listen({ hostname, port: 0, socket: { data: () => {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server, WebSocketHandler } from 'bun';
import { CLIENT_HEADER_BYTES, type Listener } from '../http/address.ts';
import { Problem } from '../http/problem.ts';
import type { ReadOnlyOptions } from '../http/read-only-route.ts';
import { baseHeaders, type WebSocketRoutes } from '../http/route.ts';
import { INTERNAL_ERROR, type PathHandler, problemResponse } from '../http/router.ts';
import { runtime } from '../platform/runtime.ts';
import { HEAD_BYTES_MAX } from './request-head.ts';

export interface OriginServerOptions<Data> extends ReadOnlyOptions {
  readonly routes: Record<string, PathHandler>;
  /** Responds to requests that no route takes. */
  readonly fetch: (request: Request) => Response;
  readonly sockets?: WebSocketRoutes<Data> | undefined;
}

/** The HTTP server with all routes, to which gateways relay requests. */
export interface OriginServer {
  /** The unix socket that it listens on. */
  readonly path: string;
  /** Authenticates gateways, see `RelayOptions.secret`. */
  readonly secret: string;
  /** Gives a listener what it needs to know the addresses of clients. @param port of the gateway */
  attach(listener: Listener, port: number): void;
  /** Closes all connections at once. */
  stop(): Promise<void>;
}

/** Starts the origin server on a unix socket of its own. */
export function openOriginServer<Data>(options: OriginServerOptions<Data>): OriginServer {
  const { path, remove } = newSocketPath();
  const secret = runtime.randomBytes(16).toString('hex');
  const server = serve(options, path);
  return {
    path,
    secret,
    attach(listener, port) {
      listener.server = { requestIP: (request) => server.requestIP(request), port };
      listener.relaySecret = secret;
    },
    async stop() {
      await server.stop(true);
      remove();
    },
  };
}

// In seconds, the maximum: the relay ends connections of silent clients. The runtime's types have this
// option for ports only.
const IDLE_TIMEOUT: object = { idleTimeout: 255 };

const REMOVED = new Problem(404, 'This file was just removed.');

const NO_SOCKETS: WebSocketHandler<never> = { message: () => {} };

// The header that the relay adds does not count against the limit for clients (SPEC G-31). The runtime
// has one limit for the process, and its types declare it constant.
const LIMITS = http as { maxHeaderSize: number };

function serve<Data>(options: OriginServerOptions<Data>, path: string): Server<Data> {
  const { fetch, sockets, corsOrigin, log } = options;
  LIMITS.maxHeaderSize = HEAD_BYTES_MAX + CLIENT_HEADER_BYTES;
  return Bun.serve<Data, string>({
    ...IDLE_TIMEOUT,
    unix: path,
    routes: { ...options.routes, ...sockets?.paths },
    fetch,
    websocket: sockets?.handlers ?? NO_SOCKETS,
    // The router sends a 413 in JSON itself, by `Content-Length`. The runtime discards the bytes of a body
    // that no route reads: requests of 500 MB do not make the process grow.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // The runtime's error page shows source code.
    development: false,
    // All routes catch their errors; this is for a defect in that code, and for a file that was removed
    // between its route, which returns its name, and the runtime, which opens it.
    error(error) {
      const unknownRequest = new Request('http://localhost/');
      const requestId = log.requestId(unknownRequest);
      const base = baseHeaders('OPTIONS', corsOrigin);
      if (error.code === 'ENOENT') return problemResponse(REMOVED, unknownRequest, base, requestId);
      log.logDefect({ method: 'GET', path: 'unknown' }, requestId, error);
      return problemResponse(INTERNAL_ERROR, unknownRequest, base, requestId);
    },
  });
}

export interface SocketPath {
  readonly path: string;
  /** Removes the socket's folder, if the path is a file. */
  remove(): void;
}

/**
 * A new path for a unix socket, which no other process uses.
 *
 * On Linux it is in the abstract namespace (unix(7)), without a file: a killed process leaves nothing
 * behind, and a cleaner of temporary folders removes nothing. All processes in the same network namespace
 * can connect to it, past firewall rules for the port. They get what the port gives: each route checks
 * credentials, and only gateways can name a client address (docs/operations.md, Security). On other
 * systems it is in a folder that only its owner can read.
 */
export function newSocketPath(platform: NodeJS.Platform = process.platform): SocketPath {
  if (platform === 'linux') {
    return { path: `\0fourbeat-${runtime.newId()}`, remove: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'fourbeat-'));
  return {
    path: join(folder, 'http'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

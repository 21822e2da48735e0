import http from 'node:http';
import type { Server, WebSocketHandler } from 'bun';
import { CLIENT_HEADER_BYTES } from '../http/address.ts';
import type { ReadOnlyOptions } from '../http/read-only.ts';
import { baseHeaders, type WebSocketRoutes } from '../http/route.ts';
import { INTERNAL_ERROR, type PathHandler, problemResponse } from '../http/router.ts';
import { HEAD_BYTES_MAX } from './request-head.ts';

export interface InnerServerOptions<Data> extends ReadOnlyOptions {
  /** Of the unix socket that it listens on. */
  readonly path: string;
  readonly routes: Record<string, PathHandler>;
  /** Answers what no route does. */
  readonly fetch: (request: Request) => Response;
  readonly sockets?: WebSocketRoutes<Data> | undefined;
}

// Those who ask are the relay's connections: it ends them when a client is silent for too long. The
// types of the runtime have this for ports alone.
const IDLE: object = { idleTimeout: 255 };

// Where no request becomes one.
const NO_SOCKETS: WebSocketHandler<never> = { message: () => {} };

// What the front adds is not of the client's share (G-31). The runtime has one limit for the whole
// process, and its types take it for a constant.
const LIMITS = http as { maxHeaderSize: number };

/** Begins to answer HTTP, whatever is asked, behind the front that listens on the port. */
export function serveInside<Data>(options: InnerServerOptions<Data>): Server<Data> {
  const { path, fetch, sockets, corsOrigin, log } = options;
  LIMITS.maxHeaderSize = HEAD_BYTES_MAX + CLIENT_HEADER_BYTES;
  return Bun.serve<Data, string>({
    ...IDLE,
    unix: path,
    routes: { ...options.routes, ...sockets?.paths },
    fetch,
    websocket: sockets?.handlers ?? NO_SOCKETS,
    // The router answers 413 itself, in JSON, by the announced length. A body that is not read
    // is thrown away as it comes: posts of 500 MB do not make the process grow.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // The runtime's own page about an error shows source text to whoever asked.
    development: false,
    // Every route has a guard of its own; this is for a defect in a guard.
    error(error) {
      const unknown = new Request('http://localhost/');
      const requestId = log.requestId(unknown);
      log.broken({ method: 'GET', path: 'unknown' }, requestId, error);
      return problemResponse(INTERNAL_ERROR, unknown, baseHeaders('OPTIONS', corsOrigin), requestId);
    },
  });
}

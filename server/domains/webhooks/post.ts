import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { dns } from 'bun';
import type { Attempt } from '../../../protocol/webhooks.ts';
import {
  type AddressPolicy,
  ipLiteralOf,
  isAllowedAddress,
} from '../../platform/network-policy.ts';
import { runtime } from '../../platform/runtime.ts';

/** Resolves a host name to all its addresses. @throws Error when it has none */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The result of an attempt: the status of the response, or the reason for none. */
export type PostResult = Pick<Attempt, 'status' | 'error'>;

/** Makes one attempt to send a body. @throws the reason of `stop` when that signal aborts it */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  stop: AbortSignal,
) => Promise<PostResult>;

export interface PostOptions {
  readonly policy: AddressPolicy;
  /** Defaults to the resolver of the system. */
  readonly resolve?: Resolve;
  /** Defaults to `TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Trusted certificates in place of the system's, PEM. */
  readonly ca?: string;
}

/** Time limit of an attempt, name resolution included. */
export const TIMEOUT_MS = 10_000;
/** Response bytes that are read before the connection is closed; only the status is used. */
const RESPONSE_BYTES_MAX = 1_024;
/** Bytes of all kinds before the connection is closed: the parser skips empty lines before a response without end. */
const RECEIVED_BYTES_MAX = 64 << 10;
/** Most interim responses (1xx) before the final one: each costs time of the event loop, and none is used. */
const INTERIM_RESPONSES_MAX = 10;
/** The lowest status in HTTP (RFC 9110, 15). */
const STATUS_MIN = 100;
/** Most addresses of a host name that are tried, one after the other, while each refuses. */
const ADDRESSES_MAX = 3;

/**
 * c-ares waits on the event loop. `getaddrinfo` waits in the thread pool of the runtime, which has a thread for
 * each core and also reads files and hashes passwords: a few names whose servers never answer would stop both.
 */
const systemResolve: Resolve = async (hostname) => {
  const found = await dns.lookup(hostname, { backend: 'c-ares' });
  return found.map(({ address }) => address);
};

/** The attempt ended before a connection, by policy or name resolution. */
class BlockedAttempt extends Error {
  constructor(readonly error: NonNullable<Attempt['error']>) {
    super(error);
  }
}

/**
 * Creates the HTTP client for webhooks. Each attempt resolves the host name once, fails when the
 * policy forbids any of its addresses, and connects to the address it has checked, which prevents DNS
 * rebinding. It follows no redirects.
 */
export function createPost(options: PostOptions): Post {
  const { policy, resolve = systemResolve, timeoutMs = TIMEOUT_MS } = options;
  return async (text, headers, body, stop) => {
    const timeoutSignal = runtime.timeoutSignal(timeoutMs);
    const signal = AbortSignal.any([timeoutSignal, stop]);
    const url = new URL(text);
    try {
      if (url.protocol !== 'https:' && !policy.allowHttp) throw new BlockedAttempt('setting');
      const addresses = await orAborted(signal, addressesOf(url, resolve, policy));
      const sending = sendToFirstReachable(addresses, (address) =>
        send(url, address, { headers, body, signal, ca: options.ca }),
      );
      // The signal ends the attempt even if the client reports nothing.
      const status = await orAborted(signal, sending);
      return { status, error: null };
    } catch (error) {
      stop.throwIfAborted();
      return { status: null, error: timeoutSignal.aborted ? 'timeout' : reasonOf(error) };
    }
  };
}

async function addressesOf(url: URL, resolve: Resolve, policy: AddressPolicy) {
  const literal = ipLiteralOf(url);
  const addresses =
    literal === null
      ? await resolve(url.hostname).catch(() => {
          throw new BlockedAttempt('dns');
        })
      : [literal];
  if (addresses.length === 0) throw new BlockedAttempt('dns');
  // One forbidden address blocks the attempt: an attacker may mix it with allowed addresses.
  if (!addresses.every((address) => isAllowedAddress(address, policy.allowPrivate))) {
    throw new BlockedAttempt('address');
  }
  return addresses.slice(0, ADDRESSES_MAX);
}

// DNS lookups cannot be canceled; a late result is ignored.
function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

const CONNECTION_REFUSED = /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/;

/** Sends to the first address that accepts the connection; never sends the body twice. */
async function sendToFirstReachable(
  addresses: readonly string[],
  sendTo: (address: string) => Promise<number>,
): Promise<number> {
  let last: unknown;
  for (const address of addresses) {
    try {
      return await sendTo(address);
    } catch (error) {
      if (!CONNECTION_REFUSED.test(codeOf(error))) throw error;
      last = error;
    }
  }
  throw last;
}

interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly ca: string | undefined;
}

function send(
  url: URL,
  address: string,
  { headers, body, signal, ca }: PostRequest,
): Promise<number> {
  const isTls = url.protocol === 'https:';
  const options = {
    method: 'POST',
    // The checked address, not the name, which would be resolved again.
    hostname: address,
    port: url.port || (isTls ? 443 : 80),
    path: url.pathname + url.search,
    headers: { ...headers, Host: url.host, 'Content-Length': Buffer.byteLength(body) },
    // No connection pool: a pooled connection may belong to another address or name.
    agent: false,
    signal,
    // The name that the certificate must match; for a literal address that is the address.
    ...(isTls && ipLiteralOf(url) === null && { servername: url.hostname }),
    ...(isTls && ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    let end = () => {
      request.destroy(new Error('The receiver sent too much before its response.'));
    };
    const request: ClientRequest = (isTls ? httpsRequest : httpRequest)(options, (response) => {
      let receivedBytes = 0;
      end = () => {
        request.destroy();
        const status = response.statusCode ?? 0;
        if (status < STATUS_MIN) reject(new Error(`The response has the status ${status}.`));
        else resolve(status);
      };
      response.on('data', (chunk: Buffer) => {
        receivedBytes += chunk.length;
        if (receivedBytes > RESPONSE_BYTES_MAX) end();
      });
      for (const event of ['end', 'error', 'close']) response.once(event, end);
    });
    request.on('socket', (socket) => {
      socket.on('data', () => {
        if (socket.bytesRead > RECEIVED_BYTES_MAX) end();
      });
    });
    // 101 is no response: the receiver would go on in another protocol.
    request.on('upgrade', ({ statusCode = STATUS_MIN }, socket) => {
      socket.destroy();
      resolve(statusCode);
    });
    let interimResponses = 0;
    request.on('information', () => {
      interimResponses++;
      if (interimResponses > INTERIM_RESPONSES_MAX) {
        request.destroy(new Error('The receiver sent too many interim responses.'));
      }
    });
    request.on('error', reject);
    request.end(body);
  });
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

function reasonOf(error: unknown): NonNullable<Attempt['error']> {
  if (error instanceof BlockedAttempt) return error.error;
  return /CERT|TLS|SSL|SIGNED|UNABLE_TO|EPROTO/.test(codeOf(error)) ? 'tls' : 'connection';
}

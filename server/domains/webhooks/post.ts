import { lookup } from 'node:dns/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Attempt } from '../../../protocol/webhooks.ts';
import { type AddressPolicy, literalOf, mayReach } from '../../platform/network-policy.ts';

/** All addresses of a name. @throws Error when it has none */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** What came of an attempt: a status or why there was none. */
export type Posted = Pick<Attempt, 'status' | 'error'>;

/** One attempt to send a body. @throws the reason of `stop`, when that ends it */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  stop: AbortSignal,
) => Promise<Posted>;

export interface PostOptions {
  readonly policy: AddressPolicy;
  /** As the machine resolves names, by default. */
  readonly resolve?: Resolve;
  /** For the whole of an attempt, the look-up of the name included (default 10 s). */
  readonly timeoutMs?: number;
  /** Certificates that are trusted in place of the usual ones, PEM. */
  readonly ca?: string;
}

const TIMEOUT_MS = 10_000;
/** An answer says what it has to say in its status; of the rest so much is taken, to be polite. */
const ANSWER_BYTES = 1_024;
/** Addresses of a name that are tried while nobody takes the connection. */
const ADDRESSES_MAX = 3;

const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

/** The attempt failed for a reason of our own. */
class Refused extends Error {
  constructor(readonly error: NonNullable<Attempt['error']>) {
    super(error);
  }
}

/**
 * Makes what sends to webhooks. Each attempt looks the name up once, refuses it when any of its
 * addresses is none that webhooks may reach, and connects to the very address that was looked at, so
 * that a name which changes meanwhile changes nothing. It follows no redirects.
 */
export function createPost(options: PostOptions): Post {
  const { policy, resolve = systemResolve, timeoutMs = TIMEOUT_MS } = options;
  return async (text, headers, body, stop) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([timeout, stop]);
    const url = new URL(text);
    try {
      if (url.protocol !== 'https:' && !policy.allowHttp) throw new Refused('setting');
      const addresses = await orAborted(signal, addressesOf(url, resolve, policy));
      const status = await sendToFirst(addresses, (address) =>
        send(url, address, { headers, body, signal, ca: options.ca }),
      );
      return { status, error: null };
    } catch (error) {
      stop.throwIfAborted();
      return { status: null, error: timeout.aborted ? 'timeout' : reasonOf(error) };
    }
  };
}

async function addressesOf(url: URL, resolve: Resolve, policy: AddressPolicy) {
  const literal = literalOf(url);
  const addresses =
    literal === null
      ? await resolve(url.hostname).catch(() => {
          throw new Refused('dns');
        })
      : [literal];
  if (addresses.length === 0) throw new Refused('dns');
  // All of them: one that is not allowed says that somebody tries to be let in by the others.
  if (!addresses.every((address) => mayReach(address, policy.allowPrivate))) {
    throw new Refused('address');
  }
  return addresses.slice(0, ADDRESSES_MAX);
}

// A look-up cannot be called off; what it finds later is of no use.
function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

const NOT_TAKEN = /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/;

/** Sends to the first address that takes the connection; to one that did, nothing is sent twice. */
async function sendToFirst(
  addresses: readonly string[],
  sendTo: (address: string) => Promise<number>,
): Promise<number> {
  let last: unknown;
  for (const address of addresses) {
    try {
      return await sendTo(address);
    } catch (error) {
      if (!NOT_TAKEN.test(codeOf(error))) throw error;
      last = error;
    }
  }
  throw last;
}

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly ca: string | undefined;
}

function send(url: URL, address: string, { headers, body, signal, ca }: Sent): Promise<number> {
  const isTls = url.protocol === 'https:';
  const options = {
    method: 'POST',
    // Not the name: what connects would look it up again.
    hostname: address,
    port: url.port || (isTls ? 443 : 80),
    path: url.pathname + url.search,
    headers: { ...headers, Host: url.host, 'Content-Length': Buffer.byteLength(body) },
    // A connection of its own, which was made to this address and for this name.
    agent: false,
    signal,
    // The name that the certificate must have; that of an address is the address.
    ...(isTls && literalOf(url) === null && { servername: url.hostname }),
    ...(isTls && ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = (isTls ? httpsRequest : httpRequest)(options, (response) => {
      let taken = 0;
      const end = () => {
        request.destroy();
        resolve(response.statusCode ?? 0);
      };
      response.on('data', (chunk: Buffer) => {
        taken += chunk.length;
        if (taken > ANSWER_BYTES) end();
      });
      for (const event of ['end', 'error', 'close']) response.once(event, end);
    });
    request.on('error', reject);
    request.end(body);
  });
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

function reasonOf(error: unknown): NonNullable<Attempt['error']> {
  if (error instanceof Refused) return error.error;
  return /CERT|TLS|SSL|SIGNED|UNABLE_TO|EPROTO/.test(codeOf(error)) ? 'tls' : 'connection';
}

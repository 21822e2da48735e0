import { createHash, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { clientAddress, type Listener } from './address.ts';
import { Problem } from './problem.ts';

export interface MetricsAccessOptions {
  readonly listener: Listener;
  readonly trustProxy: boolean;
  /** The token that a reader must send; null: readers need a local address instead. */
  readonly token: string | null;
}

/** The ranges of ipaddr.js that are not on the internet. */
const LOCAL_RANGES: ReadonlySet<string> = new Set([
  ...['loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'],
]);

/**
 * Checks that a request may read the metrics (SPEC O-12): they show the size of the audience.
 * @throws Problem 401 without the token where there is one; else 404 for an address of the internet
 */
export function requireMetricsAccess(request: Request, options: MetricsAccessOptions): void {
  const { token } = options;
  if (token !== null) {
    if (isEqual(request.headers.get('authorization') ?? '', `Bearer ${token}`)) return;
    throw new Problem(401, 'Send the token of --metrics-token as a bearer token.', {
      'WWW-Authenticate': 'Bearer',
    });
  }
  if (!isLocal(request, options)) throw new Problem(404, 'There is nothing at this path.');
}

function isLocal(request: Request, { listener, trustProxy }: MetricsAccessOptions): boolean {
  const { headers } = request;
  // A page of another origin in a browser of the local network, which could read the response (CORS).
  if (headers.has('origin')) return false;
  // An unknown proxy passed it on: its own address says nothing about the client.
  if (!trustProxy && (headers.has('x-forwarded-for') || headers.has('forwarded'))) return false;
  const address = clientAddress(request, listener, trustProxy);
  if (address === null || !ipaddr.isValid(address)) return false;
  return LOCAL_RANGES.has(ipaddr.process(address).range());
}

// Digests have one length, so that the time of the comparison says nothing about the token.
const isEqual = (one: string, two: string) => timingSafeEqual(digest(one), digest(two));
const digest = (text: string) => createHash('sha256').update(text).digest();

import { isIPv6 } from 'node:net';

/** The HTTP server once it listens: the source of client addresses and of the port. */
export interface Listener {
  server: {
    requestIP(request: Request): { readonly address: string } | null;
    readonly port?: number | undefined;
  } | null;
  /** Secret that the gateway sends with a client's address. Without it `CLIENT_HEADER` is ignored. */
  relaySecret?: string | undefined;
}

/**
 * Header in which the gateway sends the address of a client: its secret, a space, the address. The
 * gateway puts it before any header of this name that the client sent.
 */
export const CLIENT_HEADER = 'X-Fourbeat-Client';

/** Fixed size of the line of `CLIENT_HEADER`, CRLF included. It does not count towards the client's limit (G-31). */
export const CLIENT_HEADER_BYTES = 128;

/** The header line for a client. @param address the client's address, as its socket has it */
export function clientHeaderLine(secret: string, address: string): string {
  return `${`${CLIENT_HEADER}: ${secret} ${address}`.padEnd(CLIENT_HEADER_BYTES - 2)}\r\n`;
}

/**
 * The rate limit key of a request's client (SPEC L-11).
 * @param trustProxy whether a proxy in front of the service adds the last entry of `X-Forwarded-For`
 */
export function clientRateKey(request: Request, listener: Listener, trustProxy: boolean): string {
  return rateLimitKey(clientAddress(request, listener, trustProxy) ?? 'unknown');
}

/**
 * The address of a request's client; null when it is not known.
 * @param trustProxy whether a proxy in front of the service adds the last entry of `X-Forwarded-For`
 */
export function clientAddress(
  request: Request,
  listener: Listener,
  trustProxy: boolean,
): string | null {
  const forwardedFor = trustProxy ? request.headers.get('x-forwarded-for') : null;
  return (
    forwardedAddress(forwardedFor) ??
    relayedAddress(request, listener) ??
    listener.server?.requestIP(request)?.address ??
    null
  );
}

/** The address that a proxy added to `X-Forwarded-For`: its last entry. @returns null without one */
export function forwardedAddress(forwardedFor: string | null): string | null {
  const last = forwardedFor?.slice(forwardedFor.lastIndexOf(',') + 1).trim();
  return last ? withoutPort(last) : null;
}

// An address, or an IPv6 address in brackets, with an optional port: some proxies send the port, which
// differs between the connections of a client. IPv6 without brackets has no port.
const FORWARDED_ADDRESS = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/;

function withoutPort(forwarded: string): string {
  const [, inBrackets, withoutBrackets] = FORWARDED_ADDRESS.exec(forwarded) ?? [];
  return inBrackets ?? withoutBrackets ?? forwarded;
}

// Several headers of one name are joined by commas; an address contains none.
function relayedAddress(request: Request, { relaySecret }: Listener): string | null {
  const header = relaySecret === undefined ? null : request.headers.get(CLIENT_HEADER);
  const first = header?.split(',', 1)[0]?.trim();
  return first?.startsWith(`${relaySecret} `) ? first.slice(`${relaySecret} `.length) : null;
}

/**
 * The rate limit key of an address (SPEC L-11): an IPv4 address itself, also when mapped to IPv6; the
 * /64 network of an IPv6 address, since a client controls all of its 2^64 addresses.
 * @param address any other text is returned unchanged
 */
export function rateLimitKey(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = ipv6Groups(address);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

// Keys as `rateLimitKey` and `clientKey` return them.
const CLIENT_KEY =
  /^(?:((?:[\da-f]+:){2}[\da-f]+)(?::[\da-f]+::\/64|::\/48)|(\d+\.\d+)\.\d+\.\d+)(?: |$)/;

/**
 * The network of a rate limit key: the /48 of an IPv6 address, the /16 of an IPv4 address.
 * @param key the key of a client or its /48, or such a key and further text after a space
 * @returns null for another key
 */
export function networkOf(key: string): string | null {
  const [, ipv6, ipv4] = CLIENT_KEY.exec(key) ?? [];
  if (ipv6) return `${ipv6}::/48`;
  return ipv4 ? `${ipv4}.0.0/16` : null;
}

/**
 * The client that takes one share of what all use, by its rate limit key (SPEC C-8, M-16): the /48 of an IPv6
 * address, else the key. By /64, an attacker with 20 of the 65,536 in its /48 had 87 % of the messages of a show.
 */
export function clientKey(key: string): string {
  const network = networkOf(key);
  return network?.endsWith('::/48') ? network : key;
}

/** The eight groups of a valid IPv6 address. */
function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = parseGroups(head);
  if (tail === undefined) return before;
  const after = parseGroups(tail);
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after];
}

function parseGroups(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

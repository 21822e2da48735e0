import { isIPv6 } from 'node:net';

/** The HTTP server, once it listens; used to learn a client's address, and where it listens. */
export interface Listener {
  server: {
    requestIP(request: Request): { readonly address: string } | null;
    readonly port?: number | undefined;
  } | null;
  /** What a front shows with the address of its client; without it nobody is believed. */
  relaySecret?: string | undefined;
}

/**
 * The header in which a front tells whose request it passes on: its secret, a space, the address.
 * It is the first of its name; what a client sends under it comes after.
 */
export const CLIENT_HEADER = 'X-Fourbeat-Client';

/** Bytes of that header with the end of its line: as many for each client, of whose share of G-31 none are. */
export const CLIENT_LINE_BYTES = 128;

/** That header, as a line. @param address of the client, as its socket has it */
export function clientLine(secret: string, address: string): string {
  return `${`${CLIENT_HEADER}: ${secret} ${address}`.padEnd(CLIENT_LINE_BYTES - 2)}\r\n`;
}

/**
 * Whose share of a rate limit the client of a request uses.
 * @param trustProxy whether the last entry of `X-Forwarded-For` is from a proxy in front
 */
export function addressOf(request: Request, listener: Listener, trustProxy: boolean): string {
  if (trustProxy) {
    const forwarded = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim();
    if (forwarded) return shareOf(withoutPort(forwarded));
  }
  return shareOf(
    toldAddress(request, listener) ?? listener.server?.requestIP(request)?.address ?? 'unknown',
  );
}

// An address, or one of IPv6 in brackets, and a port: some proxies tell the client's whole socket, and
// each of its connections has another one. Without brackets IPv6 has no port.
const SOCKET = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/;

function withoutPort(forwarded: string): string {
  const [, inBrackets, plain] = SOCKET.exec(forwarded) ?? [];
  return inBrackets ?? plain ?? forwarded;
}

// Headers of one name are joined by commas, and no address has one.
function toldAddress(request: Request, { relaySecret }: Listener): string | null {
  const told = relaySecret === undefined ? null : request.headers.get(CLIENT_HEADER);
  const first = told?.split(',', 1)[0]?.trim();
  return first?.startsWith(`${relaySecret} `) ? first.slice(`${relaySecret} `.length) : null;
}

/**
 * Whose share of a rate limit an address uses (SPEC L-11): an IPv4 address its own, also when it
 * is written as IPv6; an IPv6 address that of its /64, since a client has 2^64 of them at hand.
 * @param address anything else stays as it is
 */
export function shareOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight groups of an address that is valid. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = parsed(head);
  if (tail === undefined) return before;
  const after = parsed(tail);
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after];
}

function parsed(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

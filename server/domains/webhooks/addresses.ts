import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network: its address and the length of its prefix. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** What the operator lets webhooks reach. */
export interface AddressPolicy {
  /** Whether a URL may be http. */
  readonly allowHttp: boolean;
  /** Networks that are reached although they are not public. */
  readonly allowPrivate: readonly Network[];
}

/** Public by its number, and all the same a door to the metadata of a machine (Azure). */
const METADATA = ['168.63.129.16'];
/** All that is given out of IPv6; the rest of it leads to other networks or nowhere. */
const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');

/**
 * Whether webhooks may be sent to an address: a public one of a single host, or one that the operator
 * allows. What carries an IPv4 address in an IPv6 one is refused whatever it carries.
 */
export function mayReach(address: string, allowed: readonly Network[]): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (allowed.some((network) => isIn(parsed, network))) return true;
  if (METADATA.includes(parsed.toString()) || parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || isIn(parsed, GLOBAL_UNICAST);
}

type Address = ReturnType<typeof ipaddr.parse>;

function isIn(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}

/** The address that a URL names; null when it has a name instead. */
export function literalOf({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? null : host;
}

/** What is wrong with the URL of a webhook by what it says alone, or null (H-3). */
export function urlProblem(
  text: string,
  { allowHttp, allowPrivate }: AddressPolicy,
): string | null {
  const url = new URL(text);
  if (url.protocol !== 'https:' && !allowHttp) return 'must be https';
  const literal = literalOf(url);
  if (literal === null || mayReach(literal, allowPrivate)) return null;
  return 'must lead to a public address';
}

/**
 * Networks from a list with commas, as a setting has them; an address stands for itself.
 * @throws Error that says what it must be
 */
export function networks(text: string): Network[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const cidr = part.trim();
    if (ipaddr.isValidCIDR(cidr)) return ipaddr.parseCIDR(cidr);
    const family = isIP(cidr);
    if (family === 0) {
      throw new Error('It must be a list of networks, such as 10.0.0.0/8,fd00::/8.');
    }
    return [ipaddr.parse(cidr), family === 4 ? 32 : 128];
  });
}

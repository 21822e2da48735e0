import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network: its address and the length of its prefix. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Which addresses the operator lets webhooks reach. */
export interface AddressPolicy {
  /** Whether a URL may be http. */
  readonly allowHttp: boolean;
  /** Networks that webhooks may reach although they are not public. */
  readonly allowPrivate: readonly Network[];
}

/** Addresses in public ranges that serve the metadata of the virtual machine (Azure). */
const METADATA_SERVICES = ['168.63.129.16'];
/** The IPv6 range that is assigned to hosts on the public internet. */
const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');

/**
 * Whether webhooks may be sent to an address: a public unicast address, or one that the operator
 * allows. IPv6 addresses that embed an IPv4 address are refused.
 */
export function isAllowedAddress(address: string, allowed: readonly Network[]): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (allowed.some((network) => isInNetwork(parsed, network))) return true;
  if (METADATA_SERVICES.includes(parsed.toString()) || parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || isInNetwork(parsed, GLOBAL_UNICAST);
}

type Address = ReturnType<typeof ipaddr.parse>;

function isInNetwork(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}

/** The IP address in a URL; null when the URL has a host name. */
export function ipLiteralOf({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? null : host;
}

/** Why a webhook's URL is refused, by its text alone; null when it is allowed (H-3). */
export function urlProblem(
  text: string,
  { allowHttp, allowPrivate }: AddressPolicy,
): string | null {
  const url = new URL(text);
  if (url.protocol !== 'https:' && !allowHttp) return 'must be https';
  const literal = ipLiteralOf(url);
  if (literal === null || isAllowedAddress(literal, allowPrivate)) return null;
  return 'must lead to a public address';
}

/**
 * Parses a setting: comma-separated networks in CIDR notation, or single addresses.
 * @throws Error that describes the format
 */
export function parseNetworks(text: string): Network[] {
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

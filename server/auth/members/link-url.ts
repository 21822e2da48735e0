import type { LinkKind } from '../../../protocol/members.ts';

/**
 * The address of a one-time link. Its secret is behind the `#`, which browsers send to no server: it is
 * in no log and no `Referer`.
 * @param origin where browsers reach the service, without a trailing slash
 */
export function linkUrl(origin: string, kind: LinkKind | 'setup', secret: string): string {
  return `${origin}/studio/#${kind}=${secret}`;
}

/** The link that opened the studio, from the URL fragment. */
export type EntryLink =
  | { readonly kind: 'setup'; readonly token: string }
  /** An invitation or a password reset. */
  | { readonly kind: 'link'; readonly token: string };

const LINK = /^#(setup|invitation|password)=([\w-]{1,100})$/;

/**
 * Parses a link.
 * @param hash of the URL, which browsers never send to a server
 * @returns null: no link
 */
export function entryLinkOf(hash: string): EntryLink | null {
  const [, kind, token] = LINK.exec(hash) ?? [];
  if (!token) return null;
  return { kind: kind === 'setup' ? 'setup' : 'link', token };
}

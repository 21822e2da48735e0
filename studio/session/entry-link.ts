/** What the address of a link says that brought somebody here. */
export type EntryLink =
  | { readonly kind: 'setup'; readonly token: string }
  /** An invitation, or a new password. */
  | { readonly kind: 'link'; readonly token: string };

const LINK = /^#(setup|invitation|password)=([\w-]{1,100})$/;

/** @param hash of the address: it is never sent to any service */
export function entryLinkOf(hash: string): EntryLink | null {
  const [, kind, token] = LINK.exec(hash) ?? [];
  if (!token) return null;
  return { kind: kind === 'setup' ? 'setup' : 'link', token };
}

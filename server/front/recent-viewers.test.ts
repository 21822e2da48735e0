import { expect, test } from 'bun:test';
import { RecentViewers } from './recent-viewers.ts';

const viewerOf = (token: string) => ({ token, id: token, streamId: 's', seat: 0, expiresMs: 0 });

test('[T-12] who is found has this very token, also where others have the same place', () => {
  const recent = new RecentViewers();
  // Their last letters are the same, so they share a place.
  const tokens = ['a.b.signature', 'x.b.signature', 'signature', 'a.b.signaturf', ''];
  for (const token of tokens) {
    expect(recent.keep(viewerOf(token))?.token).toBe(token);
    for (const asked of [...tokens, `${token}x`, `x${token}`]) {
      expect([undefined, asked]).toContain(recent.find(asked)?.token);
    }
    expect(recent.find(token)?.token).toBe(token);
  }
});

test('nobody is kept as somebody', () => {
  expect(new RecentViewers().keep(null)).toBeNull();
});

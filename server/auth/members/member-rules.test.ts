import { describe, expect, test } from 'bun:test';
import {
  type MemberWithRole,
  requireRemainingOwner,
  sessionExpiryMs,
  shouldRecordUse,
} from './member-rules.ts';

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;

describe('[U-5] a session', () => {
  test('a session ends 12 h after its last use', () => {
    expect(sessionExpiryMs({ created: 0, seen: 0 })).toBe(12 * HOUR_MS);
    expect(sessionExpiryMs({ created: 0, seen: 5 * HOUR_MS })).toBe(17 * HOUR_MS);
  });

  test('a session ends 30 days after its creation, however much it is used', () => {
    const created = 1_000;
    expect(sessionExpiryMs({ created, seen: created + 30 * DAY_MS - 1 })).toBe(
      created + 30 * DAY_MS,
    );
  });

  test('a session has its use recorded every 5 minutes at most', () => {
    const session = { created: 0, seen: HOUR_MS };
    expect(shouldRecordUse(session, HOUR_MS + 5 * 60_000 - 1)).toBe(false);
    expect(shouldRecordUse(session, HOUR_MS + 5 * 60_000)).toBe(true);
  });
});

describe('[U-20] an account keeps an owner', () => {
  const owner: MemberWithRole = { uuid: 'a', role: 'owner' };
  const host: MemberWithRole = { uuid: 'b', role: 'host' };
  const another: MemberWithRole = { uuid: 'c', role: 'owner' };

  test.each([
    ['the last owner leaves', [owner, host], 'a', null],
    ['the last owner becomes a host', [host, owner], 'a', 'host'],
    ['the last owner, who is alone, becomes a moderator', [owner], 'a', 'moderator'],
  ] as const)('requireRemainingOwner rejects that %s', (_, members, uuid, newRole) => {
    expect(() => requireRemainingOwner(members, uuid, newRole)).toThrow('owner');
  });

  test.each([
    ['one of two owners leaves', [owner, another], 'a', null],
    ['one of two owners becomes a host', [owner, host, another], 'c', 'host'],
    ['the last owner stays one', [owner, host], 'a', 'owner'],
    ['a host leaves', [owner, host], 'b', null],
    ['a host of an account without an owner leaves', [host], 'b', null],
  ] as const)('requireRemainingOwner allows that %s', (_, members, uuid, newRole) => {
    expect(() => requireRemainingOwner(members, uuid, newRole)).not.toThrow();
  });
});

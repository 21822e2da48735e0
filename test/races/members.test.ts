import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { newSetupLink } from '../../server/auth/members/operator-links.ts';
import { expectJson, type Harness, startService } from '../support/harness/harness.ts';
import { invited, newMember, tokenOf } from '../support/studio/member-browser.ts';

// What meets in the database: over HTTP passwords are hashed a few at a time, so that requests which are
// sent together rarely come here together.

const ROUNDS = 8;
const AT_ONCE = 6;

const hashOf = (secret: string) => new Bun.CryptoHasher('sha256').update(secret).digest('hex');

/** How each ended: its output's name, or why it was refused. */
async function outcomes(calls: Promise<unknown>[]): Promise<string[]> {
  const ended = calls.map((call) =>
    call.then(
      () => 'done',
      (error) => error.kind ?? String(error),
    ),
  );
  return (await Promise.all(ended)).sort();
}

describe.each(['embedded', 'shared'] as const)('on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends });
  }, 30_000);
  afterAll(() => service.close());

  const session = () => ({ hash: randomUUID(), nowMs: service.clock.nowMs() });
  const acceptLink = (token: string) =>
    service.store.acceptLink({
      ...{ hash: hashOf(token), uuid: randomUUID(), name: 'Ada', passwordHash: randomUUID() },
      session: session(),
    });
  const once = ['done', ...Array.from({ length: AT_ONCE - 1 }, () => 'unauthorized')];

  test('[U-17] an invitation that is used by many at once makes one member', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const account = await service.createAccount();
      const { token } = await invited(service, 'host', undefined, account);
      const tries = Array.from({ length: AT_ONCE }, () => acceptLink(token));
      expect(await outcomes(tries)).toEqual(once);
      expect(await service.store.listMembers({ account: account.uuid })).toHaveLength(1);
    }
  });

  test('[U-17] a link to a password that is used by many at once sets one', async () => {
    const { email } = await newMember(service, 'host');
    for (let round = 0; round < ROUNDS; round++) {
      const secret = randomUUID();
      const nowMs = service.clock.nowMs();
      const link = { id: randomUUID(), hash: hashOf(secret), nowMs };
      await service.store.linkFor({ email, link });
      const tries = Array.from({ length: AT_ONCE }, () => acceptLink(secret));
      expect(await outcomes(tries)).toEqual(once);
    }
  });

  test('[U-8] a removal that meets signing in leaves no session', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const account = await service.createAccount();
      const { uuid, email } = await newMember(service, 'host', account);
      const { passwordHash } = (await service.store.findSignIn({ email })) ?? { passwordHash: '' };
      const opened = Array.from({ length: AT_ONCE }, session);
      const known = { member: uuid, passwordHash, newPasswordHash: null, replaced: null };
      const calls = opened.map((one) => service.store.openSession({ ...known, session: one }));
      const removal = service.store.removeMember({ account: account.uuid, uuid });
      const ended = await outcomes([...calls, removal]);
      expect(ended.filter((end) => end !== 'done' && end !== 'unauthorized')).toEqual([]);
      expect(await outcomes([removal])).toEqual(['done']);
      for (const { hash } of opened) {
        expect(await service.store.findSession({ hash })).toBeNull();
      }
    }
  });

  test('[U-18] of new passwords that meet, one is set, and the old one opens nothing', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { uuid, email } = await newMember(service, 'host');
      const { passwordHash: old } = (await service.store.findSignIn({ email })) ?? {
        passwordHash: '',
      };
      const change = (next: string) =>
        service.store.changeOwnMember({
          ...{ uuid, session: 'none', name: null },
          password: { old, next },
        });
      const late = session();
      const known = { member: uuid, passwordHash: old, newPasswordHash: null, replaced: null };
      const changes = [change('one'), change('two'), change('three')];
      const signIn = service.store.openSession({ ...known, session: late });
      const [changed] = await Promise.all([outcomes(changes), outcomes([signIn])]);
      expect(changed).toEqual(['done', 'unauthorized', 'unauthorized']);
      expect(await service.store.findSession({ hash: late.hash })).toBeNull();
    }
  });
});

test.each(['embedded', 'shared'] as const)(
  '[U-12] [U-13] on %s backends many that set up at once make one account',
  async (backends) => {
    for (let round = 0; round < 3; round++) {
      const fresh = await startService({ backends });
      try {
        const nowMs = fresh.clock.nowMs();
        const secrets: string[] = [];
        for (let n = 0; n < AT_ONCE; n++) {
          secrets.push(tokenOf((await newSetupLink(fresh.store, fresh.url, nowMs)) ?? ''));
        }
        const setUp = (secret: string) => {
          const account = { uuid: randomUUID(), email: `${secret}@example.org`, name: 'Ada' };
          const named = { email: account.email.toLowerCase(), name: 'Ada', role: 'owner' as const };
          const owner = { uuid: randomUUID(), account: account.uuid, ...named };
          return fresh.store.setUp({
            hash: hashOf(secret),
            account: { ...account, created: nowMs },
            owner: { ...owner, passwordHash: 'none', created: nowMs },
            session: { hash: randomUUID(), nowMs },
          });
        };
        expect(await outcomes(secrets.map(setUp))).toEqual([
          'done',
          ...Array.from({ length: AT_ONCE - 1 }, () => 'unauthorized'),
        ]);
        const later = await fresh.studio('GET', '/members');
        expect(await expectJson<{ results: object[] }>(later, 200)).toEqual({ results: [] });
        expect(await newSetupLink(fresh.store, fresh.url, nowMs)).toBeNull();
      } finally {
        await fresh.close();
      }
    }
  },
  60_000,
);

test.each(['embedded', 'shared'] as const)(
  '[U-12] on %s backends no link that is made beside the first member is good after it',
  async (backends) => {
    for (let round = 0; round < 3; round++) {
      const fresh = await startService({ backends });
      try {
        const { token } = await invited(fresh, 'host');
        const nowMs = fresh.clock.nowMs();
        const links = Array.from({ length: AT_ONCE }, () => ({
          ...{ id: randomUUID(), hash: randomUUID(), nowMs },
        }));
        const keep = (from: number, to: number) =>
          links.slice(from, to).map((link) => fresh.store.keepSetupLink(link));
        const early = keep(0, 2);
        const accepted = fresh.store.acceptLink({
          ...{ hash: hashOf(token), uuid: randomUUID(), name: 'Ada', passwordHash: 'none' },
          session: { hash: randomUUID(), nowMs },
        });
        await Promise.all([accepted, ...early, ...keep(2, AT_ONCE)]);
        for (const { hash } of links) {
          expect(await fresh.store.isSetupLink({ hash, nowMs })).toBe(false);
        }
      } finally {
        await fresh.close();
      }
    }
  },
  60_000,
);

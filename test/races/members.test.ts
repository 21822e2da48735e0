import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { newSetupLink } from '../../server/auth/members/links.ts';
import { rounds } from '../support/full-run.ts';
import { expectJson, type Harness, startService } from '../support/harness/harness.ts';
import { inviteMember, newMember, tokenOf } from '../support/studio/user-agent.ts';

// These tests call the store directly: over HTTP only a few passwords are hashed at a time, so
// concurrent requests rarely reach the database together.

const ROUNDS = rounds(3, 8);
/** Rounds of tests that start a new service for each round. */
const SERVICE_ROUNDS = rounds(1, 3);
const CONCURRENCY = 6;

const hashOf = (secret: string) => new Bun.CryptoHasher('sha256').update(secret).digest('hex');

/** The outcome of each call, sorted: `done`, or the kind of its error. */
async function outcomesOf(calls: Promise<unknown>[]): Promise<string[]> {
  const settled = calls.map((call) =>
    call.then(
      () => 'done',
      (error) => error.kind ?? String(error),
    ),
  );
  return (await Promise.all(settled)).sort();
}

describe.each(['embedded', 'shared'] as const)('on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends });
  }, 30_000);
  afterAll(() => service.close());

  const session = () => ({ hash: randomUUID(), replaced: null, nowMs: service.clock.nowMs() });
  const acceptLink = (token: string) =>
    service.store.acceptLink({
      ...{ hash: hashOf(token), uuid: randomUUID(), name: 'Ada', passwordHash: randomUUID() },
      session: session(),
    });
  const oneDone = ['done', ...Array.from({ length: CONCURRENCY - 1 }, () => 'unauthorized')];

  test('[U-17] an invitation that is used several times concurrently creates one member', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const account = await service.createAccount();
      const { token } = await inviteMember(service, 'host', undefined, account);
      const attempts = Array.from({ length: CONCURRENCY }, () => acceptLink(token));
      expect(await outcomesOf(attempts)).toEqual(oneDone);
      expect(await service.store.listMembers({ account: account.uuid })).toHaveLength(1);
    }
  });

  test('[U-17] a password link that is used several times concurrently sets one password', async () => {
    const { email } = await newMember(service, 'host');
    for (let round = 0; round < ROUNDS; round++) {
      const secret = randomUUID();
      const nowMs = service.clock.nowMs();
      const link = { id: randomUUID(), hash: hashOf(secret), nowMs };
      await service.store.createMemberLink({ email, account: null, link });
      const attempts = Array.from({ length: CONCURRENCY }, () => acceptLink(secret));
      expect(await outcomesOf(attempts)).toEqual(oneDone);
    }
  });

  test('[U-8] removing a member leaves no session of a concurrent sign-in', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const account = await service.createAccount();
      const { uuid, email } = await newMember(service, 'host', account);
      const { passwordHash } = (await service.store.findSignIn({ email })) ?? { passwordHash: '' };
      const opened = Array.from({ length: CONCURRENCY }, session);
      const known = { member: uuid, passwordHash, newPasswordHash: null };
      const calls = opened.map((opening) =>
        service.store.openSession({ ...known, session: opening }),
      );
      const removal = service.store.removeMember({
        ...{ account: account.uuid, uuid, by: null, lastOwner: false },
      });
      const ended = await outcomesOf([...calls, removal]);
      expect(ended.filter((end) => end !== 'done' && end !== 'unauthorized')).toEqual([]);
      expect(await outcomesOf([removal])).toEqual(['done']);
      for (const { hash } of opened) {
        expect(await service.store.findSession({ hash })).toBeNull();
      }
    }
  });

  test('[U-18] of concurrent password changes one succeeds, and a concurrent sign-in with the old one has no session', async () => {
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
      const signInSession = session();
      const known = { member: uuid, passwordHash: old, newPasswordHash: null };
      const changes = [change('one'), change('two'), change('three')];
      const signIn = service.store.openSession({ ...known, session: signInSession });
      const [changed] = await Promise.all([outcomesOf(changes), outcomesOf([signIn])]);
      expect(changed).toEqual(['done', 'unauthorized', 'unauthorized']);
      expect(await service.store.findSession({ hash: signInSession.hash })).toBeNull();
    }
  });

  test('[A-9] an email has one account whatever its case, also beside accounts of earlier versions', async () => {
    const email = `Ann-${randomUUID()}@Example.org`;
    const [lower, upper] = [email.toLowerCase(), email.toUpperCase()];
    const { uuid } = await service.createAccount(email);
    expect(await outcomesOf([service.createAccount(lower)])).toEqual(['conflict']);
    const find = (written: string) => service.store.findAccount({ email: written });
    for (const written of [email, lower, upper]) {
      expect(await find(written)).toMatchObject({ uuid, email });
    }
    // Callers fold the case now; a call like this is one of an earlier version.
    const second = await service.createAccount(upper);
    expect([(await find(email))?.uuid, (await find(upper))?.uuid]).toEqual([uuid, second.uuid]);
    const ambiguous = await find(lower).catch((error) => error);
    expect(ambiguous.kind).toBe('conflict');
    for (const written of [email, upper]) expect(ambiguous.message).toContain(written);
  });

  test('[U-12] [U-13] concurrent setups create one account', async () => {
    for (let round = 0; round < SERVICE_ROUNDS; round++) {
      const fresh = await startService({ backends });
      try {
        const nowMs = fresh.clock.nowMs();
        const secrets: string[] = [];
        for (let n = 0; n < CONCURRENCY; n++) {
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
            session: { hash: randomUUID(), replaced: null, nowMs },
          });
        };
        expect(await outcomesOf(secrets.map(setUp))).toEqual([
          'done',
          ...Array.from({ length: CONCURRENCY - 1 }, () => 'unauthorized'),
        ]);
        const later = await fresh.studio('GET', '/members');
        expect(await expectJson<{ results: object[] }>(later, 200)).toEqual({ results: [] });
        expect(await newSetupLink(fresh.store, fresh.url, nowMs)).toBeNull();
      } finally {
        await fresh.close();
      }
    }
  }, 60_000);

  test('[U-12] no setup link that is created concurrently with the first member works', async () => {
    for (let round = 0; round < SERVICE_ROUNDS; round++) {
      const fresh = await startService({ backends });
      try {
        const { token } = await inviteMember(fresh, 'host');
        const nowMs = fresh.clock.nowMs();
        const links = Array.from({ length: CONCURRENCY }, () => ({
          ...{ id: randomUUID(), hash: randomUUID(), replaced: null, nowMs },
        }));
        const keep = (from: number, to: number) =>
          links.slice(from, to).map((link) => fresh.store.keepSetupLink(link));
        const early = keep(0, 2);
        const accepted = fresh.store.acceptLink({
          ...{ hash: hashOf(token), uuid: randomUUID(), name: 'Ada', passwordHash: 'none' },
          session: { hash: randomUUID(), replaced: null, nowMs },
        });
        await Promise.all([accepted, ...early, ...keep(2, CONCURRENCY)]);
        for (const { hash } of links) {
          expect(await fresh.store.isSetupLink({ hash, nowMs })).toBe(false);
        }
      } finally {
        await fresh.close();
      }
    }
  }, 60_000);
});

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Store } from '../../server/app/procedures.ts';
import { ModerationCache } from '../../server/domains/moderation/moderation-cache.ts';
import {
  domainErrorsIn,
  errorKindsIn,
  FIRST_INTERVAL,
  NOW_MS,
  PRODUCER,
  RaceFixture,
} from '../support/database/race-fixture.ts';

// Concurrent moderation of a chat on several nodes.

const ROUNDS = 15;
const SEATS = 6;

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

const viewerAt = (seat: number) => `viewer ${seat}`;

/** A stream with viewers in some seats. */
async function newChat(): Promise<{ streamId: string; producer: string }> {
  const streamId = await fixture.newStream();
  const seats = Array.from({ length: SEATS }, (_, seat) => seat);
  await fixture.store.takeSeats(seats.map((seat) => ({ streamId, viewer: viewerAt(seat), seat })));
  return { streamId, producer: PRODUCER };
}

const ban = (node: Store, own: Awaited<ReturnType<typeof newChat>>, seat: number) =>
  node.restrictViewer({
    ...{ ...own, viewer: viewerAt(seat), kind: 'banned', name: '', until: null, by: null },
    nowMs: NOW_MS,
  });

function expectNoErrors(outcomes: readonly unknown[]): void {
  expect(domainErrorsIn(outcomes)).toEqual([]);
}

test('[C-16] [N-19] [I-2] messages that are hidden on all nodes concurrently are published as hidden once each', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const own = await newChat();
    const ids = Array.from({ length: 12 }, () => crypto.randomUUID());
    const outcomes = await fixture.onAll((node) =>
      node.hideMessages({ ...own, ids: fixture.shuffled(ids).slice(0, 9) }),
    );
    expectNoErrors(outcomes);
    await fixture.store.hideMessages({ ...own, ids });
    await fixture.sealTo(FIRST_INTERVAL + round);
    const events = await fixture.readSealedEvents(own.streamId);
    const hidden = events.flatMap(({ data }) => data?.ids as string[]);
    expect(hidden.toSorted()).toEqual(ids.toSorted());
  }
}, 30_000);

test('[C-17] [N-19] a message that nodes pin and hide concurrently is not pinned in the end', async () => {
  const sent = { viewer: 'v', name: '', text: 'Hello', kind: 'message' as const, at: NOW_MS };
  for (let round = 0; round < ROUNDS; round++) {
    const own = await newChat();
    const id = crypto.randomUUID();
    // The nodes that pin have found the message before the other one hides it.
    const outcomes = await fixture.onAll<unknown>((node, index) =>
      index === 0
        ? node.hideMessages({ ...own, ids: [id] })
        : node.pinMessage({ ...own, id, message: { id, ...sent } }),
    );
    expect(outcomes[0]).toEqual({ ids: [id] });
    for (const kind of errorKindsIn(outcomes)) expect(kind).toBe('conflict');
    const detail = await fixture.store.readStreamDetail({ id: own.streamId, interval: 0 });
    expect(detail?.chat.pinned).toBeNull();
  }
}, 30_000);

test('[C-13] [N-19] the last chat mode that is sent is the stored one', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const own = await newChat();
    const outcomes = await fixture.onAll(async (node, index) => {
      await node.changeChatMode({ ...own, patch: { slowModeMs: 1_000 * (index + 1) } });
      await node.changeChatMode({ ...own, patch: { paused: index > 0 } });
    });
    expectNoErrors(outcomes);
    await fixture.sealTo(FIRST_INTERVAL + ROUNDS + round);
    const last = (await fixture.readSealedEvents(own.streamId)).at(-1);
    const detail = await fixture.store.readStreamDetail({ id: own.streamId, interval: 0 });
    const { slow_mode_ms: slowModeMs, paused } = detail?.chat ?? {};
    expect(last).toMatchObject({ type: 'chat-mode', data: { slowModeMs, paused } });
  }
}, 30_000);

test('[C-21] [N-19] after concurrent changes and refreshes, every node’s cache equals the database', async () => {
  const caches = fixture.nodes.map(
    (store) =>
      new ModerationCache({
        store,
        nowMs: () => NOW_MS,
        onError: (error) => {
          throw error;
        },
      }),
  );
  for (let round = 0; round < ROUNDS; round++) {
    const chats = await Promise.all([newChat(), newChat()]);
    // A refresh during a change must not skip the change before it is committed.
    const outcomes = await fixture.onAll(async (node, index) => {
      for (let n = 0; n < 4; n++) {
        const own = chats[Math.floor(fixture.random() * 2)] as (typeof chats)[0];
        const seat = Math.floor(fixture.random() * SEATS);
        await Promise.all([ban(node, own, seat), caches[index]?.refresh()]);
        const other = { ...own, viewer: viewerAt((seat + 1) % SEATS), kind: 'banned' as const };
        await Promise.all([node.liftRestriction(other), caches[(index + 1) % 3]?.refresh()]);
      }
    });
    expectNoErrors(outcomes);
    await Promise.all(caches.map((cache) => cache.refresh()));
    for (const own of chats) {
      const listed = await fixture.store.listRestricted({ ...own, nowMs: NOW_MS });
      const banned = new Set(listed.map(({ viewer }) => viewer));
      for (const cache of caches) {
        for (let seat = 0; seat < SEATS; seat++) {
          const isBanned = cache.bans.isBanned({ streamId: own.streamId, seat });
          expect([seat, isBanned]).toEqual([seat, banned.has(viewerAt(seat))]);
        }
      }
    }
  }
}, 30_000);

test('[N-19] names of viewers are stored in the order of their seats, so that nodes cannot deadlock', async () => {
  const { streamId } = await newChat();
  const other = await fixture.openClient();
  const lock = 'select 1 from seats where stream_id = $1 and seat = $2 for no key update';
  await other.query('begin');
  await other.query(lock, [streamId, 0]);
  const names = [1, 0].map((seat) => ({ streamId, seat, name: 'A name', messageId: `${seat}` }));
  const naming = fixture.store.nameViewers(names);
  const isWaiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  while ((await other.query(isWaiting)).rowCount === 0) await Bun.sleep(2);
  const free = await other.query(`${lock} skip locked`, [streamId, 1]);
  await other.query('rollback');
  await naming;
  expect(free.rowCount).toBe(1);
});

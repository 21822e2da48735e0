import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { LIFTED, type ModeratedChatRow, type RestrictionsRow } from './chat-state-sql.ts';
import { ModerationCache } from './moderation-cache.ts';

const DAY_MS = 24 * 3600_000;

interface StoredRestriction {
  readonly kind: RestrictionsRow['kind'];
  readonly seat: number;
  readonly until: number | null;
  readonly revision: number;
}

interface StoredChat extends ModeratedChatRow {
  readonly restrictions: readonly StoredRestriction[];
}

interface ChatFields {
  readonly slowModeMs?: number;
  readonly paused?: boolean;
  readonly banned?: readonly number[];
  readonly muted?: readonly (readonly [seat: number, until: number | null])[];
  /** An earlier version of the program makes the change. */
  readonly isUnnumbered?: boolean;
}

/** The restrictions after a change; those that did not change have their former revision. */
function changedRestrictions(
  before: readonly StoredRestriction[],
  { banned = [], muted = [] }: ChatFields,
  revision: number,
): StoredRestriction[] {
  const wanted = [
    ...banned.map((seat) => ({ kind: 'banned' as const, seat, until: null })),
    ...muted.map(([seat, until]) => ({ kind: 'muted' as const, seat, until })),
  ];
  const isSame = (a: Omit<StoredRestriction, 'revision'>, b: typeof a) =>
    a.kind === b.kind && a.seat === b.seat;
  const lifted = before
    .filter((old) => !wanted.some((row) => isSame(row, old)))
    .map((old) => (old.until === LIFTED ? old : { ...old, until: LIFTED, revision }));
  return [
    ...lifted,
    ...wanted.map((row) => {
      const old = before.find((stored) => isSame(stored, row) && stored.until === row.until);
      return old ?? { ...row, revision };
    }),
  ];
}

/** A cache over a fake store that the test changes. */
async function fixture({ pageSize = 10 } = {}) {
  const stored = new Map<string, StoredChat>();
  const errors: unknown[] = [];
  const newBans: [string, readonly number[]][] = [];
  const calls = { last: 0, pages: 0, restrictions: [] as (number | null)[] };
  const state = {
    nowMs: DAY_MS,
    last: 0,
    unavailable: null as Error | null,
    hold: Promise.resolve(),
  };
  const cache = new ModerationCache({
    store: {
      lastModerationChange: async () => {
        calls.last++;
        const { last } = state;
        await state.hold;
        if (state.unavailable) throw state.unavailable;
        return last;
      },
      changedChats: async ({ after }) => {
        calls.pages++;
        if (state.unavailable) throw state.unavailable;
        const chats = [...stored.values()]
          .filter(({ changed }) => changed > after)
          .sort((a, b) => a.changed - b.changed)
          .slice(0, pageSize);
        return { chats, next: chats.length < pageSize ? null : (chats.at(-1)?.changed ?? null) };
      },
      changedRestrictions: async ({ chats }) => {
        calls.restrictions.push(...chats.map(({ after }) => after));
        return chats.flatMap(({ streamId, after }) => {
          const { restrictions = [] } = stored.get(streamId) ?? {};
          const changed = restrictions.filter(({ revision, until }) =>
            after === null ? until !== LIFTED : revision > after,
          );
          const byKind = Map.groupBy(changed, ({ kind }) => kind);
          return [...byKind].map(([kind, rows]) => ({
            ...{ streamId, kind },
            seats: rows.map(({ seat, until }) => [seat, until] as const),
          }));
        });
      },
    },
    nowMs: () => state.nowMs,
    onError: (error) => errors.push(error),
  });
  cache.onBanned((streamId, seats) => newBans.push([streamId, [...seats]]));
  const change = (streamId: string, fields: ChatFields = {}) => {
    state.last++;
    const { slowModeMs = 0, paused = false, isUnnumbered = false } = fields;
    const before = stored.get(streamId) ?? { revision: 0, unnumbered: 0, restrictions: [] };
    const changed = changedRestrictions(before.restrictions, fields, before.revision + 1);
    const isNew = changed.some(({ revision }) => revision > before.revision);
    stored.set(streamId, {
      ...{ streamId, slowModeMs, paused, changed: state.last },
      revision: before.revision + Number(isNew),
      unnumbered: before.unnumbered + Number(isUnnumbered),
      restrictions: isUnnumbered ? changed.map((row) => ({ ...row, revision: 0 })) : changed,
    });
  };
  return { cache, stored, errors, newBans, calls, state, change };
}

describe('ModerationCache', () => {
  test('[C-21] a refresh resolves once the subscriber has put new bans into effect', async () => {
    const { cache, change } = await fixture();
    const inEffect = Promise.withResolvers<void>();
    cache.subscribeToBans(() => inEffect.promise);
    change('a', { banned: [3] });
    let isRefreshed = false;
    const refreshed = cache.refresh().then(() => {
      isRefreshed = true;
    });
    await Bun.sleep(0);
    expect(isRefreshed).toBe(false);
    inEffect.resolve();
    await refreshed;
  });

  test('[C-21] a refresh waits for one page of a full read', async () => {
    const { cache, change, state } = await fixture({ pageSize: 1 });
    for (const id of ['a', 'b', 'c', 'd']) change(id, { banned: [1] });
    await cache.refresh();
    const pages: string[] = [];
    cache.subscribeToBans(async (streamId) => {
      pages.push(streamId);
      await Bun.sleep(0);
    });
    pages.length = 0;
    for (const id of ['a', 'b', 'c', 'd']) change(id, { banned: [1, 2] });
    state.nowMs += DAY_MS;
    const full = cache.readAllWhenDue();
    while (pages.length === 0) await Bun.sleep(0);
    change('e', { banned: [5] });
    await cache.refresh();
    expect(cache.bans.isBanned({ streamId: 'e', seat: 5 })).toBe(true);
    await full;
    expect(pages).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('[C-21] a chat that was first moderated during the last page of a full read stays so', async () => {
    const { cache, change, state, calls } = await fixture();
    change('a', { banned: [1] });
    await cache.refresh();
    state.nowMs += DAY_MS;
    const inEffect = Promise.withResolvers<void>();
    cache.subscribeToBans(() => inEffect.promise);
    change('a', { banned: [1, 2] });
    calls.pages = 0;
    const full = cache.readAllWhenDue();
    while (calls.pages === 0) await Promise.resolve();
    change('e', { banned: [5], paused: true });
    const refreshed = cache.refresh();
    inEffect.resolve();
    await Promise.all([full, refreshed]);
    expect(cache.bans.isBanned({ streamId: 'e', seat: 5 })).toBe(true);
    expect(cache.chatMode('e').paused).toBe(true);
  });

  test('[N-22] a failure during a full read brings another one after 10 s', async () => {
    const { cache, change, state, calls, stored } = await fixture({ pageSize: 1 });
    for (const id of ['a', 'b', 'c']) change(id, { banned: [1] });
    await cache.refresh();
    state.nowMs += DAY_MS;
    calls.pages = 0;
    const full = cache.readAllWhenDue();
    while (calls.pages === 0) await Promise.resolve();
    state.unavailable = new Unavailable('PostgreSQL is unavailable.');
    const refreshed = cache.refresh();
    await refreshed;
    state.unavailable = null;
    await full;
    stored.delete('b');
    state.nowMs += 10_001;
    await cache.readAllWhenDue();
    expect(cache.bans.isBanned({ streamId: 'b', seat: 1 })).toBe(false);
  });

  test('[C-21] others run between two chats with 1,000 bans of a full read', async () => {
    const { cache, change, newBans } = await fixture();
    const banned = Array.from({ length: 1_000 }, (_, seat) => seat);
    for (let stream = 0; stream < 25; stream++) change(`${stream}`, { banned });
    let isOver = false;
    const refreshed = cache.refresh().finally(() => {
      isOver = true;
    });
    for (let before = 0; !isOver; before = newBans.length) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(newBans.length - before).toBeLessThanOrEqual(1);
    }
    await refreshed;
    expect(newBans.length).toBe(25);
  });

  test('[C-21] others run between two chats with 1,000 bans that a full read forgets', async () => {
    const { cache, change, state, stored } = await fixture();
    const banned = Array.from({ length: 1_000 }, (_, seat) => seat);
    for (let stream = 0; stream < 25; stream++) change(`${stream}`, { banned });
    await cache.refresh();
    let lifted = 0;
    cache.subscribeToBans(async (_, changes) => {
      lifted += Math.sign(changes.lifted.length);
    });
    stored.clear();
    state.nowMs += DAY_MS;
    let isOver = false;
    const full = cache.readAllWhenDue().finally(() => {
      isOver = true;
    });
    for (let before = 0; !isOver; before = lifted) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(lifted - before).toBeLessThanOrEqual(1);
    }
    await full;
    expect(lifted).toBe(25);
  });

  test('[C-21] ModerationCache passes the bans of a stream to the subscriber at once, and then each change', async () => {
    const { cache, stored, change, state } = await fixture();
    change('a', { banned: [3] });
    await cache.refresh();
    const changes: [string, banned: readonly number[], lifted: readonly number[]][] = [];
    cache.subscribeToBans(async (streamId, { banned, lifted }) => {
      changes.push([streamId, banned, lifted]);
    });
    expect(changes.splice(0)).toEqual([['a', [3], []]]);
    change('a', { banned: [3, 4] });
    change('b', { paused: true });
    await cache.refresh();
    expect(changes.splice(0)).toEqual([['a', [4], []]]);
    change('b', { banned: [1] });
    change('a');
    await cache.refresh();
    expect(changes.splice(0).sort()).toEqual([
      ['a', [], [3, 4]],
      ['b', [1], []],
    ]);
    // A full read lifts the bans of streams that are gone.
    change('c', { banned: [9] });
    await cache.refresh();
    changes.splice(0);
    stored.delete('c');
    state.nowMs += DAY_MS;
    await cache.readAllWhenDue();
    expect(changes).toEqual([['c', [], [9]]]);
  });

  test('[C-21] ModerationCache has all changes committed before a refresh', async () => {
    const { cache, change, state, newBans } = await fixture();
    expect(cache.chatMode('a')).toMatchObject({ slowModeMs: 0, paused: false });
    change('a', { paused: true, slowModeMs: 5, banned: [3] });
    await cache.refresh();
    expect(cache.chatMode('a')).toMatchObject({ slowModeMs: 5, paused: true });
    expect([3, 4].map((seat) => cache.bans.isBanned({ streamId: 'a', seat }))).toEqual([
      true,
      false,
    ]);
    expect(cache.bans.isBanned({ streamId: 'b', seat: 3 })).toBe(false);
    const muted = [
      [5, state.nowMs + 1],
      [6, null],
    ] as const;
    change('a', { banned: [4], muted });
    await cache.refresh();
    expect([3, 4].map((seat) => cache.bans.isBanned({ streamId: 'a', seat }))).toEqual([
      false,
      true,
    ]);
    const until = [4, 5, 6].map((seat) => cache.mutedUntil({ streamId: 'a', seat }));
    expect(until).toEqual([false, state.nowMs + 1, null]);
    state.nowMs++;
    expect(cache.mutedUntil({ streamId: 'a', seat: 5 })).toBe(false);
    expect(newBans).toEqual([
      ['a', [3]],
      ['a', [4]],
    ]);
  });

  test('ModerationCache reads only one number while nothing changes', async () => {
    const { cache, change, calls } = await fixture();
    change('a', { banned: [3] });
    await cache.refresh();
    const { pages: before } = calls;
    for (let n = 0; n < 3; n++) await cache.refresh();
    expect(calls).toEqual({ last: 4, pages: before, restrictions: [null] });
  });

  test('[C-21] ModerationCache reads no restrictions for a change of the mode, and otherwise those that changed', async () => {
    const { cache, change, calls } = await fixture();
    change('a', { banned: [3, 4], muted: [[5, null]] });
    await cache.refresh();
    change('a', { banned: [3, 4], muted: [[5, null]], slowModeMs: 5 });
    await cache.refresh();
    expect(cache.chatMode('a').slowModeMs).toBe(5);
    expect(calls.restrictions.splice(0)).toEqual([null]);
    change('a', { banned: [4, 6] });
    await cache.refresh();
    expect(calls.restrictions).toEqual([1]);
    expect([...cache.bans.of('a')].sort()).toEqual([4, 6]);
    expect(cache.mutedUntil({ streamId: 'a', seat: 5 })).toBe(false);
  });

  test('[C-21] ModerationCache reads all restrictions after a change by an earlier version, and after many', async () => {
    const { cache, change, calls, stored } = await fixture();
    change('a', { banned: [3, 4] });
    await cache.refresh();
    change('a', { banned: [4, 5], isUnnumbered: true });
    await cache.refresh();
    expect([...cache.bans.of('a')].sort()).toEqual([4, 5]);
    const chat = stored.get('a') as StoredChat;
    // The row of the ban that was lifted has been removed.
    stored.set('a', { ...chat, revision: 2_000, restrictions: [] });
    change('a');
    await cache.refresh();
    expect([...cache.bans.of('a')]).toEqual([]);
    expect(calls.restrictions).toEqual([null, null, null]);
  });

  test('ModerationCache reads all pages of changes', async () => {
    const { cache, change } = await fixture({ pageSize: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) change(id, { paused: true });
    await cache.refresh();
    for (const id of ['a', 'b', 'c', 'd', 'e']) expect(cache.chatMode(id).paused).toBe(true);
  });

  test('[C-21] ModerationCache reads again on refresh when a pending read began before the change', async () => {
    const { cache, change, state, calls } = await fixture();
    await cache.refresh();
    let release = () => {};
    state.hold = new Promise((resolve) => {
      release = resolve;
    });
    const early = cache.refresh();
    while (calls.last === 1) await Promise.resolve();
    change('a', { paused: true });
    const late = cache.refresh();
    release();
    await Promise.all([early, late]);
    expect(cache.chatMode('a').paused).toBe(true);
  });

  test('[C-21] ModerationCache keeps its state while the database is unavailable, and reports only other errors', async () => {
    const { cache, change, state, errors } = await fixture();
    change('a', { paused: true });
    await cache.refresh();
    state.unavailable = new Unavailable('PostgreSQL is unavailable.');
    change('a', { paused: false });
    await cache.refresh();
    expect([cache.chatMode('a').paused, errors.length]).toEqual([true, 0]);
    state.unavailable = null;
    await cache.refresh();
    expect(cache.chatMode('a').paused).toBe(false);
    state.unavailable = new Error('a failed read');
    await cache.refresh();
    expect(errors).toHaveLength(1);
  });

  test('[N-22] ModerationCache reads everything again when the last change number decreases', async () => {
    const { cache, change, state, stored, newBans } = await fixture();
    change('a', { banned: [1] });
    change('b', { banned: [2] });
    await cache.refresh();
    stored.delete('b');
    state.last = 0;
    change('a', { banned: [1, 3] });
    await cache.refresh();
    const isBanned = (streamId: string, seat: number) => cache.bans.isBanned({ streamId, seat });
    expect([isBanned('a', 1), isBanned('a', 3), isBanned('b', 2)]).toEqual([true, true, false]);
    expect(newBans.at(-1)).toEqual(['a', [3]]);
  });

  test('[C-21] ModerationCache has all bans after a failover that lost commits whose numbers repeat', async () => {
    const { cache, change, state, stored } = await fixture();
    change('a', { banned: [1] });
    change('b', { banned: [2] });
    await cache.refresh();
    state.unavailable = new Unavailable('PostgreSQL is unavailable.');
    await cache.refresh();
    // The replica lost the ban of b. Another one has its number.
    stored.delete('b');
    state.last = 1;
    change('c', { banned: [3] });
    state.unavailable = null;
    state.nowMs += 10_001;
    await cache.readAllWhenDue();
    const isBanned = (streamId: string, seat: number) => cache.bans.isBanned({ streamId, seat });
    expect([isBanned('a', 1), isBanned('b', 2), isBanned('c', 3)]).toEqual([true, false, true]);
  });

  test('[C-21] ModerationCache keeps chats paused, slowed and muted while a full read waits for the workers', async () => {
    const { cache, change, state } = await fixture();
    change('a', { banned: [1] });
    change('b', { paused: true, slowModeMs: 5, muted: [[4, null]] });
    await cache.refresh();
    const inEffect = Promise.withResolvers<void>();
    let isWaiting = false;
    cache.subscribeToBans(() => {
      isWaiting = state.nowMs > DAY_MS;
      return inEffect.promise;
    });
    change('a', { banned: [1, 2] });
    state.nowMs += DAY_MS;
    const refreshed = cache.readAllWhenDue();
    while (!isWaiting) await Bun.sleep(0);
    expect(cache.chatMode('b')).toMatchObject({ paused: true, slowModeMs: 5 });
    expect(cache.mutedUntil({ streamId: 'b', seat: 4 })).toBeNull();
    inEffect.resolve();
    await refreshed;
  });

  test('[C-21] ModerationCache drops within an hour a chat that the database no longer returns', async () => {
    const { cache, change, state, stored } = await fixture();
    change('a', { paused: true });
    await cache.refresh();
    stored.clear();
    await cache.refresh();
    expect(cache.chatMode('a').paused).toBe(true);
    state.nowMs += 3600_001;
    await cache.readAllWhenDue();
    expect(cache.chatMode('a').paused).toBe(false);
  });
});

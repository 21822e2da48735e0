import { describe, expect, test } from 'bun:test';
import { ARCHIVE_MS } from '../../../protocol/limits.ts';
import {
  explainingTx,
  type PlanNode,
  rowsRead,
  withSession,
} from '../../../test/support/database/query-plans.ts';
import {
  insertStream,
  sqliteBefore,
  sqliteOfFile,
} from '../../../test/support/database/sqlite-of-file.ts';
import { migrate } from '../../storage/sql/migrate.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { type ChangedChats, chatStateProcedures, REVISIONS_KEPT } from './chat-state-sql.ts';
import { ModerationCache } from './moderation-cache.ts';
import { moderationProcedures } from './moderation-sql.ts';
import { restrictionProcedures } from './restrictions-sql.ts';

const RESTRICTED = 9_000;
const NOW_MS = 1_000_000;
const OWN = { streamId: 's', producer: 'a' };

const viewerAt = (seat: number) => `viewer ${seat}`;
const { changedChats, changedRestrictions, lastModerationChange } = chatStateProcedures;

/** A cache that reads in `tx`. */
function cacheOn(tx: Tx, nowMs = NOW_MS): ModerationCache {
  return new ModerationCache({
    store: {
      lastModerationChange: (input) => lastModerationChange.run(tx, input),
      changedChats: (input) => changedChats.run(tx, input),
      changedRestrictions: (input) => changedRestrictions.run(tx, input),
    },
    nowMs: () => nowMs,
    onError: (error) => {
      throw error;
    },
  });
}

/** A stream with viewers, of whom most are banned. */
async function insertRestricted(tx: Tx): Promise<void> {
  await insertStream(tx, 's');
  const seats = Array.from({ length: RESTRICTED + 10 }, (_, seat) => [seat]);
  const numbers = `from ${tx.rows('$1', ['seat integer'])} numbers`;
  await tx.query(
    `insert into seats (stream_id, viewer, seat) select 's', 'viewer ' || seat, seat ${numbers}`,
    [JSON.stringify(seats)],
  );
  await tx.query(
    `insert into restricted_viewers (stream_id, viewer, kind, seat, name, until, at)
     select 's', 'viewer ' || seat, 'banned', seat, '', null, 0 ${numbers}`,
    [JSON.stringify(seats.slice(0, RESTRICTED))],
  );
}

const changeMode = (tx: Tx, slowModeMs: number) =>
  moderationProcedures.changeChatMode.run(tx, { ...OWN, patch: { slowModeMs } });

const restrict = (tx: Tx, kind: 'muted' | 'banned', seat: number, until: number | null = null) =>
  restrictionProcedures.restrictViewer.run(tx, {
    ...{ ...OWN, viewer: viewerAt(seat), kind, name: 'A name', until, by: null, nowMs: NOW_MS },
  });

const lift = (tx: Tx, kind: 'muted' | 'banned', seat: number) =>
  restrictionProcedures.liftRestriction.run(tx, { ...OWN, viewer: viewerAt(seat), kind });

/** What a cache has: the banned seats, and the mutes of some seats. */
function stateOf(cache: ModerationCache) {
  const muted = [1, 2, 3].map((seat) => cache.mutedUntil({ streamId: 's', seat }));
  return { banned: [...cache.bans.of('s')].sort((a, b) => a - b), muted };
}

/** Makes changes, and compares the cache that reads them with one that reads everything. */
async function expectAllChanges(tx: Tx, cache: ModerationCache): Promise<void> {
  await restrict(tx, 'banned', RESTRICTED + 1);
  await restrict(tx, 'muted', 1);
  await restrict(tx, 'muted', 2, NOW_MS + 5);
  await restrict(tx, 'muted', 3);
  await lift(tx, 'banned', 4);
  await lift(tx, 'banned', 5);
  await cache.refresh();
  await lift(tx, 'muted', 3);
  await restrict(tx, 'banned', 5);
  await cache.refresh();
  const complete = cacheOn(tx);
  await complete.refresh();
  expect(stateOf(cache)).toEqual(stateOf(complete));
  expect(stateOf(cache).muted).toEqual([null, NOW_MS + 5, false]);
  expect([4, 5, RESTRICTED + 1].map((seat) => cache.bans.of('s').has(seat))).toEqual([
    false,
    true,
    true,
  ]);
}

/** The number of the last change. */
const LIVE_CHANGED = 20_001;

/** 20,000 archived chats that were moderated before a live one in slow mode. */
async function insertArchivedChats(tx: Tx): Promise<void> {
  const ids = Array.from({ length: 20_000 }, (_, n) => [`archived ${n}`, n + 1]);
  const archived = `from ${tx.rows('$1', ['id text', 'number bigint'])} archived`;
  await tx.query(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status,
       created, ended)
     select id, number, 'a', 'A show', 0, 0, 'ENDED', 0, 1 ${archived}`,
    [JSON.stringify(ids)],
  );
  await tx.query(`insert into chat_rooms (stream_id, changed) select id, number ${archived}`, [
    JSON.stringify(ids),
  ]);
  await insertStream(tx, 'live', LIVE_CHANGED);
  await tx.query(
    `insert into chat_rooms (stream_id, slow_mode_ms, changed) values ('live', 7, ${LIVE_CHANGED})`,
  );
  await tx.query(`update counters set value = ${LIVE_CHANGED} where name = 'moderation'`);
}

/** When these chats are archived on every node. */
const ARCHIVED_MS = 2 * ARCHIVE_MS;

test('[C-21] PostgreSQL examines few chats at once, however many archived ones precede a live one', async () => {
  await withSession(async (session) => {
    await session.query(`insert into accounts values ('a', 'a@example.org', 'A', 0)`);
    const rowsOfStatements: number[] = [];
    const tx = explainingTx(session, (plan) => {
      rowsOfStatements.push(rowsRead(plan, 'chat_rooms') + rowsRead(plan, 'streams'));
    });
    const expectFewRows = async () => {
      const cache = cacheOn(tx, ARCHIVED_MS);
      await cache.refresh();
      expect(cache.chatMode('live').slowModeMs).toBe(7);
      expect(Math.max(...rowsOfStatements.splice(0))).toBeLessThanOrEqual(600);
    };
    // Statistics of empty tables at first.
    await session.query('analyze');
    await insertArchivedChats(session);
    await expectFewRows();
    await session.query('analyze');
    await expectFewRows();
  });
}, 30_000);

test('[C-21] SQLite examines few chats at once, however many archived ones precede a live one', async () => {
  const sqlite = await sqliteOfFile();
  await insertArchivedChats(sqlite);
  const lines = new Set<string>();
  const cache = cacheOn(
    {
      ...sqlite,
      query: async (text, params) => {
        const plan = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
        for (const { detail } of plan) lines.add(detail);
        return sqlite.query(text, params);
      },
    },
    ARCHIVED_MS,
  );
  await cache.refresh();
  expect(cache.chatMode('live').slowModeMs).toBe(7);
  expect([...lines].filter((line) => /\b(chat_rooms|r|s)\b/.test(line))).toEqual([
    'SEARCH chat_rooms USING COVERING INDEX chat_rooms_by_change (changed>?)',
    'SEARCH r USING INDEX chat_rooms_by_change (changed>? AND changed<?)',
    'SEARCH s USING INDEX sqlite_autoindex_streams_1 (id=?)',
  ]);
  let after: number | null = 0;
  while (after !== null) {
    const { next }: ChangedChats = await changedChats.run(sqlite, { after, nowMs: ARCHIVED_MS });
    const query = 'select count(*) as rows from chat_rooms where changed > $1 and changed <= $2';
    const [examined] = await sqlite.query(query, [after, next ?? LIVE_CHANGED]);
    expect(examined?.rows).toBeLessThanOrEqual(300);
    after = next;
  }
});

test('[C-21] PostgreSQL reads no restriction for a change of the chat mode, and otherwise those that changed', async () => {
  await withSession(async (session) => {
    await session.query(`insert into accounts values ('a', 'a@example.org', 'A', 0)`);
    await insertRestricted(session);
    await changeMode(session, 1);
    await session.query('analyze');
    let plans: PlanNode[] = [];
    const cache = cacheOn(explainingTx(session, (plan) => plans.push(plan)));
    const restrictionsRead = async () => {
      plans = [];
      await cache.refresh();
      return plans.reduce((sum, plan) => sum + rowsRead(plan, 'restricted_viewers'), 0);
    };
    expect(await restrictionsRead()).toBe(RESTRICTED);
    await changeMode(session, 2);
    expect(await restrictionsRead()).toBe(0);
    expect(cache.chatMode('s').slowModeMs).toBe(2);
    await restrict(session, 'banned', RESTRICTED);
    await lift(session, 'banned', 0);
    expect(await restrictionsRead()).toBe(2);
    await expectAllChanges(session, cache);
  });
}, 30_000);

describe('SQLite', async () => {
  const sqlite = await sqliteOfFile();
  await insertRestricted(sqlite);

  test('[C-21] a node that reads changed restrictions has the same as one that reads all', async () => {
    await changeMode(sqlite, 1);
    const cache = cacheOn(sqlite);
    await cache.refresh();
    await expectAllChanges(sqlite, cache);
  });

  test('[C-20] a lifted restriction is listed no more, has no name, and is removed some revisions later', async () => {
    const storedName = async () => {
      const query = `select name from restricted_viewers where viewer = 'viewer 7'`;
      return (await sqlite.query(query)).map(({ name }) => name);
    };
    await restrict(sqlite, 'banned', 7);
    await lift(sqlite, 'banned', 7);
    const listed = await restrictionProcedures.listRestricted.run(sqlite, {
      ...OWN,
      nowMs: NOW_MS,
    });
    expect(listed.some(({ viewer }) => viewer === viewerAt(7))).toBe(false);
    expect(await storedName()).toEqual(['']);
    await restrict(sqlite, 'banned', 8);
    expect(await storedName()).toEqual(['']);
    await sqlite.query(`update chat_rooms set revision = revision + ${REVISIONS_KEPT}`);
    await restrict(sqlite, 'banned', 8);
    expect(await storedName()).toEqual([]);
  });
});

test('[C-21] a node reads the restrictions that an earlier version changes', async () => {
  const sqlite = await sqliteBefore(30);
  await insertStream(sqlite, 's');
  const ban = async (seat: number) => {
    await sqlite.query(
      `insert into restricted_viewers (stream_id, viewer, kind, seat, name, at)
       values ('s', $1, 'banned', $2, '', 0)`,
      [viewerAt(seat), seat],
    );
    await sqlite.query(`update counters set value = value + 1 where name = 'moderation'`);
    await sqlite.query(
      `insert into chat_rooms (stream_id, revision, changed) values ('s', 1, $1)
       on conflict (stream_id) do update set revision = chat_rooms.revision + 1, changed = $1`,
      [seat],
    );
  };
  await ban(1);
  await migrate(sqlite, 'sqlite', NOW_MS);
  const cache = cacheOn(sqlite);
  await cache.refresh();
  await ban(2);
  await cache.refresh();
  await sqlite.query(`delete from restricted_viewers where seat = 1`);
  await ban(3);
  await cache.refresh();
  expect(stateOf(cache).banned).toEqual([2, 3]);
});

import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { ChatRooms } from './chat-rooms.ts';
import type { KnownRoom } from './chat-rooms-sql.ts';

const DAY_MS = 24 * 3600_000;

/** Rooms of a record that a test has in its hands. */
async function fixture({ pageSize = 10 } = {}) {
  const stored = new Map<string, KnownRoom>();
  const defects: unknown[] = [];
  const told: [string, readonly number[]][] = [];
  const calls = { last: 0, rooms: 0 };
  const world = {
    nowMs: DAY_MS,
    last: 0,
    unavailable: null as Error | null,
    hold: Promise.resolve(),
  };
  const rooms = new ChatRooms({
    store: {
      lastModeration: async () => {
        calls.last++;
        const { last } = world;
        await world.hold;
        if (world.unavailable) throw world.unavailable;
        return last;
      },
      changedRooms: async ({ after }) => {
        calls.rooms++;
        if (world.unavailable) throw world.unavailable;
        return [...stored.values()]
          .filter(({ changed }) => changed > after)
          .sort((a, b) => a.changed - b.changed)
          .slice(0, pageSize);
      },
    },
    nowMs: () => world.nowMs,
    onDefect: (error) => defects.push(error),
  });
  rooms.onBanned((streamId, seats) => told.push([streamId, [...seats]]));
  const change = (streamId: string, room: Partial<KnownRoom> = {}) => {
    world.last++;
    const untouched = { slowModeMs: 0, paused: false, banned: [], muted: [] };
    stored.set(streamId, { streamId, ...untouched, ...room, changed: world.last });
  };
  return { rooms, stored, defects, told, calls, world, change };
}

describe('what a node knows of chats', () => {
  test('[C-21] tells another who is banned, now and whenever it changes, and never less meanwhile', async () => {
    const { rooms, stored, change, world } = await fixture();
    change('a', { banned: [3] });
    await rooms.look();
    const told: [string, number[]][] = [];
    rooms.shareBans((streamId, banned) => told.push([streamId, [...banned]]));
    expect(told.splice(0)).toEqual([['a', [3]]]);
    change('a', { banned: [3, 4] });
    change('b', { paused: true });
    await rooms.look();
    expect(told.splice(0)).toEqual([['a', [3, 4]]]);
    change('b', { banned: [1] });
    change('a');
    await rooms.look();
    expect(told.splice(0).sort()).toEqual([
      ['a', []],
      ['b', [1]],
    ]);
    // All are read anew, and what is not there any more is told of.
    change('c', { banned: [9] });
    await rooms.look();
    told.splice(0);
    stored.delete('c');
    world.nowMs += DAY_MS;
    await rooms.look();
    expect(told.sort()).toEqual([
      ['b', [1]],
      ['c', []],
    ]);
  });

  test('[C-21] is what was committed before it looked', async () => {
    const { rooms, change, world, told } = await fixture();
    expect(rooms.room('a')).toMatchObject({ slowModeMs: 0, paused: false });
    change('a', { paused: true, slowModeMs: 5, banned: [3] });
    await rooms.look();
    expect(rooms.room('a')).toMatchObject({ slowModeMs: 5, paused: true });
    expect([3, 4].map((seat) => rooms.isBanned({ streamId: 'a', seat }))).toEqual([true, false]);
    expect(rooms.isBanned({ streamId: 'b', seat: 3 })).toBe(false);
    const muted = [
      [5, world.nowMs + 1],
      [6, null],
    ] as const;
    change('a', { banned: [4], muted });
    await rooms.look();
    expect([3, 4].map((seat) => rooms.isBanned({ streamId: 'a', seat }))).toEqual([false, true]);
    const until = [4, 5, 6].map((seat) => rooms.mutedUntil({ streamId: 'a', seat }));
    expect(until).toEqual([false, world.nowMs + 1, null]);
    world.nowMs++;
    expect(rooms.mutedUntil({ streamId: 'a', seat: 5 })).toBe(false);
    expect(told).toEqual([
      ['a', [3]],
      ['a', [4]],
    ]);
  });

  test('costs one number as long as nothing changes', async () => {
    const { rooms, change, calls } = await fixture();
    change('a', { banned: [3] });
    await rooms.look();
    const { rooms: before } = calls;
    for (let n = 0; n < 3; n++) await rooms.look();
    expect(calls).toEqual({ last: 4, rooms: before });
  });

  test('is read a page at a time', async () => {
    const { rooms, change } = await fixture({ pageSize: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) change(id, { paused: true });
    await rooms.look();
    for (const id of ['a', 'b', 'c', 'd', 'e']) expect(rooms.room(id).paused).toBe(true);
  });

  test('[C-21] a look that was under way before the change is not taken for one after it', async () => {
    const { rooms, change, world, calls } = await fixture();
    await rooms.look();
    let goOn = () => {};
    world.hold = new Promise((resolve) => {
      goOn = resolve;
    });
    const early = rooms.look();
    while (calls.last === 1) await Promise.resolve();
    change('a', { paused: true });
    const late = rooms.look();
    goOn();
    await Promise.all([early, late]);
    expect(rooms.room('a').paused).toBe(true);
  });

  test('[C-21] stays while the database is unavailable, which is no defect, and goes on after it', async () => {
    const { rooms, change, world, defects } = await fixture();
    change('a', { paused: true });
    await rooms.look();
    world.unavailable = new Unavailable('PostgreSQL is unavailable.');
    change('a', { paused: false });
    await rooms.look();
    expect([rooms.room('a').paused, defects.length]).toEqual([true, 0]);
    world.unavailable = null;
    await rooms.look();
    expect(rooms.room('a').paused).toBe(false);
    world.unavailable = new Error('a defect');
    await rooms.look();
    expect(defects).toHaveLength(1);
  });

  test('[N-22] goes back with a record that went back', async () => {
    const { rooms, change, world, stored, told } = await fixture();
    change('a', { banned: [1] });
    change('b', { banned: [2] });
    await rooms.look();
    stored.delete('b');
    world.last = 0;
    change('a', { banned: [1, 3] });
    await rooms.look();
    const isBanned = (streamId: string, seat: number) => rooms.isBanned({ streamId, seat });
    expect([isBanned('a', 1), isBanned('a', 3), isBanned('b', 2)]).toEqual([true, true, false]);
    expect(told.at(-1)).toEqual(['a', [3]]);
  });

  test('[C-21] forgets within an hour what is read no more', async () => {
    const { rooms, change, world, stored } = await fixture();
    change('a', { paused: true });
    await rooms.look();
    stored.clear();
    await rooms.look();
    expect(rooms.room('a').paused).toBe(true);
    world.nowMs += 3600_001;
    await rooms.look();
    expect(rooms.room('a').paused).toBe(false);
  });
});

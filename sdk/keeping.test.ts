import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, world } from '../test/support/sdk/join-fixture.ts';
import { PersistentState } from './keeping.ts';

afterEach(leaveAll);

/** As `localStorage` has what it keeps: by properties, that begin with no name of its methods. */
class PageStorage {
  readonly [key: string]: unknown;
  getItem(key: string): string | null {
    return (this[key] as string | undefined) ?? null;
  }
  setItem(key: string, value: string): void {
    Object.assign(this, { [key]: value });
  }
}

describe('what is kept', () => {
  test('is told once to the tab that did not keep it', () => {
    const storage = new PageStorage();
    const [here, there] = [
      new PersistentState(storage, 'fourbeat:1:a'),
      new PersistentState(storage, 'fourbeat:1:a'),
    ];
    expect(here.load()).toBeNull();
    here.save(() => '{"next":7}', 0);
    expect([here.load(), there.load(), there.load()]).toEqual([null, '{"next":7}', null]);
  });

  test('of old streams is removed, and nothing that is of others or new', () => {
    const storage = new PageStorage();
    storage.setItem('fourbeat:1:old', '{"next":99}');
    storage.setItem('fourbeat:1:new', '{"next":100}');
    storage.setItem('app', '{"next":1}');
    new PersistentState(storage, 'fourbeat:1:mine').save(() => '{"next":500}', 100);
    expect(Object.keys(storage)).toEqual(['fourbeat:1:new', 'app', 'fourbeat:1:mine']);
  });

  test('is kept whatever else is there', () => {
    const storage = new PageStorage();
    storage.setItem('fourbeat:1:odd', 'none');
    new PersistentState(storage, 'fourbeat:1:mine').save(() => '{"next":500}', 100);
    expect(storage.getItem('fourbeat:1:mine')).toBe('{"next":500}');
  });

  test('for a stream is removed by another one after a week, and not after six days', async () => {
    const { machine, join } = world();
    const storage = new PageStorage();
    const dayOf = (days: number) => Math.floor(machine.nowMs / 250) - days * 345_600;
    storage.setItem('fourbeat:1:six:ada', JSON.stringify({ next: dayOf(6) }));
    storage.setItem('fourbeat:1:seven:ada', JSON.stringify({ next: dayOf(7) }));
    const viewer = join({ storage });
    await machine.advance(6_000);
    expect(Object.keys(storage)).toEqual([
      'fourbeat:1:six:ada',
      `fourbeat:1:${viewer.streamId}:ada`,
    ]);
  });
});

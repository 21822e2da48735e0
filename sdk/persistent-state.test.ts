import { afterEach, describe, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll } from '../test/support/sdk/join-fixture.ts';
import { PersistentState } from './persistent-state.ts';

afterEach(leaveAll);

/** Like `localStorage`: keys are properties. */
class PageStorage {
  readonly [key: string]: unknown;
  getItem(key: string): string | null {
    return (this[key] as string | undefined) ?? null;
  }
  setItem(key: string, value: string): void {
    Object.assign(this, { [key]: value });
  }
}

describe('stored state', () => {
  test('is loaded once by a tab that did not save it', () => {
    const storage = new PageStorage();
    const [ownTab, otherTab] = [
      new PersistentState(storage, 'fourbeat:1:a'),
      new PersistentState(storage, 'fourbeat:1:a'),
    ];
    expect(ownTab.load()).toBeNull();
    ownTab.save(() => '{"next":7}', 0);
    expect([ownTab.load(), otherTab.load(), otherTab.load()]).toEqual([null, '{"next":7}', null]);
  });

  test('of old streams is removed; newer state and keys of the app stay', () => {
    const storage = new PageStorage();
    storage.setItem('fourbeat:1:old', '{"next":99}');
    storage.setItem('fourbeat:1:new', '{"next":100}');
    storage.setItem('app', '{"next":1}');
    new PersistentState(storage, 'fourbeat:1:mine').save(() => '{"next":500}', 100);
    expect(Object.keys(storage)).toEqual(['fourbeat:1:new', 'app', 'fourbeat:1:mine']);
  });

  test('is saved when other stored state is invalid', () => {
    const storage = new PageStorage();
    storage.setItem('fourbeat:1:odd', 'none');
    new PersistentState(storage, 'fourbeat:1:mine').save(() => '{"next":500}', 100);
    expect(storage.getItem('fourbeat:1:mine')).toBe('{"next":500}');
  });

  test('is saved in a full storage once the state of old streams is removed', () => {
    class FullStorage extends PageStorage {
      override setItem(key: string, value: string): void {
        if (this.getItem('fourbeat:1:old') !== null) throw new Error('QuotaExceededError');
        super.setItem(key, value);
      }
    }
    const storage = new FullStorage();
    Object.assign(storage, { 'fourbeat:1:old': '{"next":99}' });
    const state = new PersistentState(storage, 'fourbeat:1:mine');
    state.save(() => '{"next":99}', 99);
    expect(Object.keys(storage)).toEqual(['fourbeat:1:old']);
    state.save(() => '{"next":500}', 100);
    expect(Object.keys(storage)).toEqual(['fourbeat:1:mine']);
  });

  test('of another stream is removed after a week, not after six days', async () => {
    const { machine, join } = createJoinFixture();
    const storage = new PageStorage();
    const intervalDaysAgo = (days: number) => Math.floor((machine.nowMs - days * 86_400_000) / 250);
    storage.setItem('fourbeat:1:six:ada', JSON.stringify({ next: intervalDaysAgo(6) }));
    storage.setItem('fourbeat:1:seven:ada', JSON.stringify({ next: intervalDaysAgo(7) }));
    const viewer = join({ storage });
    await machine.advance(6_000);
    expect(Object.keys(storage)).toEqual([
      'fourbeat:1:six:ada',
      `fourbeat:1:${viewer.streamId}:ada`,
    ]);
  });
});

import { expect, test } from 'bun:test';
import { FourbeatError } from './errors.ts';
import { Listeners } from './listeners.ts';
import { QuizGame } from './quiz-game.ts';
import { SnapshotStore } from './snapshot-store.ts';

const STATES = ['joining', 'live', 'catching-up', 'offline', 'ended'] as const;
const ERROR = new FourbeatError('unavailable', 'gone');

test.each(STATES)(
  'a viewer in the state %s takes each state of the feed, unless it has ended',
  (state) => {
    for (const next of STATES) {
      const store = new SnapshotStore(new QuizGame(null), new Listeners());
      expect(store.snapshot.state).toBe('joining');
      store.setState(state, null);
      store.setState(next, ERROR);
      const expected = state === 'ended' ? { state, error: null } : { state: next, error: ERROR };
      expect(store.snapshot).toMatchObject(expected);
    }
  },
);

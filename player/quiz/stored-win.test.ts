import { afterEach, expect, test } from 'bun:test';
import {
  createJoinFixture,
  createStorage,
  leaveAll,
  QUIZ,
} from '../../test/support/sdk/join-fixture.ts';
import { loadIdentity } from '../identity.ts';
import { storedWinAt } from './stored-win.ts';

afterEach(leaveAll);

test('[W-13] storedWinAt finds a win that the video of the page had not reached', async () => {
  const { machine, service, join } = createJoinFixture();
  const storage = createStorage();
  const { id: viewerId } = loadIdentity(storage);
  service.setStatus('CREATED');
  const viewer = join({ storage, viewerId });
  await machine.advance(2_000);
  service.openQuiz(QUIZ);
  await machine.advance(1_000);
  viewer.answer('Jupiter').catch(() => {});
  await machine.advance(6_000);
  const winnersAt: number[] = [];
  viewer.on('event', ({ type, interval }) => {
    if (type === 'quiz-winners') winnersAt.push(interval);
  });
  expect(storedWinAt(service.streamId, storage)).toBe(0);
  service.requestWinners();
  await machine.advance(3_000);
  viewer.leave();
  expect(winnersAt).toEqual([storedWinAt(service.streamId, storage)]);
  expect(storedWinAt('another stream', storage)).toBe(0);
  expect(storedWinAt(service.streamId, null)).toBe(0);
});

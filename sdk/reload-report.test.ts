import { afterEach, expect, test } from 'bun:test';
import {
  createJoinFixture,
  createStorage,
  leaveAll,
  QUIZ,
} from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

test('a reload right after a request for winners still reports the viewer, and not when the round is over', async () => {
  const { machine, service, requests, join } = createJoinFixture();
  service.setStatus('CREATED');
  const options = { storage: createStorage() };
  const before = join(options);
  await machine.advance(2_000);
  service.openQuiz(QUIZ);
  await machine.advance(1_000);
  before.answer('Jupiter').catch(() => {});
  await machine.advance(6_000);
  service.requestWinners();
  const isReport = (request: string) => request.endsWith('/record-winner');
  // The report is sent after 250 ms here.
  while (!options.storage.entries.values().next().value?.includes('"hasWon"')) {
    await machine.advance(25);
  }
  before.leave();
  expect(requests.filter(isReport)).toHaveLength(0);
  const after = join(options);
  await machine.advance(3_000);
  expect(requests.filter(isReport)).toHaveLength(1);
  expect(after.snapshot.winners).toEqual({ isWinning: true, hasWon: true, count: 1 });
  after.leave();
  join(options);
  await machine.advance(3_000);
  expect(requests.filter(isReport)).toHaveLength(1);
});

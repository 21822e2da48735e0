import { afterEach, describe, expect, test } from 'bun:test';
import {
  createJoinFixture,
  createStorage,
  leaveAll,
  QUIZ,
} from '../test/support/sdk/join-fixture.ts';
import {
  createGameFixture,
  createQuiz,
  createResults,
  FIRST_INTERVAL,
  quizWinners,
  REQUEST_WINNERS,
} from '../test/support/sdk/quiz-game-fixture.ts';

afterEach(leaveAll);

describe('two tabs of one viewer', () => {
  async function both() {
    const it = createJoinFixture();
    it.service.setStatus('CREATED');
    const options = { storage: createStorage() };
    const [one, other] = [it.join(options), it.join(options)];
    await it.machine.advance(2_000);
    const asked = it.service.openQuiz(QUIZ);
    await it.machine.advance(1_000);
    return { ...it, options, asked, one, other };
  }

  test('know of the answer of either, and are both winning by it', async () => {
    const { machine, service, one, other } = await both();
    const answer = one.answer('Jupiter');
    await machine.advance(1_000);
    expect(await answer).toBe('counted');
    expect(other.quiz).toMatchObject({ choice: 'Jupiter', outcome: 'counted' });
    expect(await other.answer('Jupiter')).toBe('counted');
    expect(await other.answer('Mars').catch(({ kind }) => kind)).toBe('refused');
    await machine.advance(6_000);
    expect(other.snapshot.winners.isWinning).toBe(true);
    service.requestWinners();
    await machine.advance(3_000);
    const won = { isWinning: true, hasWon: true, count: 1 };
    expect([one.snapshot.winners, other.snapshot.winners]).toEqual([won, won]);
  });

  test('that answer at once both show what counts', async () => {
    const { machine, one, other } = await both();
    const answers = [one.answer('Jupiter'), other.answer('Mars')];
    await machine.advance(1_000);
    expect(await Promise.all(answers)).toEqual(['counted', 'other-answer']);
    const counted = { choice: 'Jupiter', outcome: 'counted' };
    expect([one.quiz, other.quiz]).toMatchObject([counted, counted]);
  });

  test('lose nothing by a reload, whichever of them was the last to keep', async () => {
    const { machine, options, one, other, join } = await both();
    const answer = one.answer('Jupiter');
    await machine.advance(500);
    expect(await answer).toBe('counted');
    one.leave();
    await machine.advance(6_000);
    other.leave();
    const again = join(options);
    await machine.advance(1_000);
    expect(again.quiz).toMatchObject({ choice: 'Jupiter', outcome: 'counted' });
    expect(again.snapshot.winners.isWinning).toBe(true);
  });
});

describe('what another tab has kept', () => {
  test('is added to what is known: quizzes, rounds, and how far back all is known', () => {
    const [here, there] = [createGameFixture({ isBeginning: false }), createGameFixture()];
    there.play('a', 5, 'Jupiter');
    there.publish(40, REQUEST_WINNERS);
    there.quizGame.recordWin(FIRST_INTERVAL + 40);
    there.publish(44, quizWinners(3));
    here.skipTo(10);
    here.publish(30);
    expect(here.quizGame.isWinning(FIRST_INTERVAL + 30)).toBeNull();
    here.quizGame.merge(there.quizGame.serialize());
    expect(here.quizGame.isWinning(FIRST_INTERVAL + 30)).toBe(true);
    expect(here.quizGame.winnersAt(FIRST_INTERVAL + 44)).toMatchObject({ hasWon: true, count: 3 });
    expect(here.quizGame.quizAt(FIRST_INTERVAL + 30)?.choice).toBe('Jupiter');
  });

  test('says nothing of what both have missed', () => {
    const [here, there] = [createGameFixture({ isBeginning: false }), createGameFixture()];
    there.play('a', 5, 'Jupiter');
    here.skipTo(50);
    here.publish(60);
    here.quizGame.merge(there.quizGame.serialize());
    expect(here.quizGame.isWinning(FIRST_INTERVAL + 60)).toBeNull();
  });

  test('is no answer while it is on its way there: it may be refused', () => {
    const [here, there] = [createGameFixture(), createGameFixture()];
    const asked = { type: 'quiz', data: createQuiz('a', FIRST_INTERVAL) };
    for (const { publish } of [here, there]) publish(0, asked);
    there.quizGame.update('a', { choice: 'Mars' });
    here.quizGame.merge(there.quizGame.serialize());
    expect(here.quizGame.quizAt(FIRST_INTERVAL)?.choice).toBeNull();
  });

  test.each([
    ['counted', 'Jupiter', 'other-answer', 'Mars'],
    ['counted', 'Jupiter', 'unknown', 'Mars'],
    ['too-late', 'Mars', 'too-late', 'Jupiter'],
    [null, 'Mars', 'counted', 'Jupiter'],
  ] as const)(
    'does not take the place of an answer here: %p %s, there %s %s',
    (mine, choice, theirs, other) => {
      const [here, there] = [createGameFixture(), createGameFixture()];
      const asked = createQuiz('a', FIRST_INTERVAL);
      for (const { publish } of [here, there]) publish(0, { type: 'quiz', data: asked });
      here.quizGame.update('a', { choice, outcome: mine });
      there.quizGame.update('a', { choice: other, outcome: theirs });
      there.publish(20, { type: 'quiz-results', data: createResults(asked) });
      here.quizGame.merge(there.quizGame.serialize());
      expect(here.quizGame.quizAt(FIRST_INTERVAL)).toMatchObject({ choice, outcome: mine });
      expect(here.quizGame.quizAt(FIRST_INTERVAL + 20)?.results?.answer).toBe('Jupiter');
    },
  );

  test('is nothing when it is of another shape', () => {
    const { quizGame, publish } = createGameFixture();
    publish(0);
    quizGame.merge('{"quizzes":[]}');
    expect(quizGame.isWinning(FIRST_INTERVAL)).toBe(true);
  });
});

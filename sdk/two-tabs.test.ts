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
  async function joinTwice() {
    const fixture = createJoinFixture();
    fixture.service.setStatus('CREATED');
    const options = { storage: createStorage() };
    const [one, other] = [fixture.join(options), fixture.join(options)];
    await fixture.machine.advance(2_000);
    const quiz = fixture.service.openQuiz(QUIZ);
    await fixture.machine.advance(1_000);
    return { ...fixture, options, quiz, one, other };
  }

  test('share the answer of either, and both win by it', async () => {
    const { machine, service, one, other } = await joinTwice();
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

  test('that answer at the same time both show the answer that counts', async () => {
    const { machine, one, other } = await joinTwice();
    const answers = [one.answer('Jupiter'), other.answer('Mars')];
    await machine.advance(1_000);
    expect(await Promise.all(answers)).toEqual(['counted', 'other-answer']);
    const counted = { choice: 'Jupiter', outcome: 'counted' };
    expect([one.quiz, other.quiz]).toMatchObject([counted, counted]);
  });

  test('keep everything across a reload, whichever saved last', async () => {
    const { machine, options, one, other, join } = await joinTwice();
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

describe('the stored game of another tab', () => {
  test('is merged: quizzes, rounds and the known range', () => {
    const [own, otherTab] = [createGameFixture({ isBeginning: false }), createGameFixture()];
    otherTab.play('a', 5, 'Jupiter');
    otherTab.publish(40, REQUEST_WINNERS);
    otherTab.quizGame.recordWin(FIRST_INTERVAL + 40);
    otherTab.publish(44, quizWinners(3));
    own.skipTo(10);
    own.publish(30);
    expect(own.quizGame.isWinning(FIRST_INTERVAL + 30)).toBeNull();
    own.quizGame.merge(otherTab.quizGame.serialize());
    expect(own.quizGame.isWinning(FIRST_INTERVAL + 30)).toBe(true);
    expect(own.quizGame.winnersAt(FIRST_INTERVAL + 44)).toMatchObject({ hasWon: true, count: 3 });
    expect(own.quizGame.quizAt(FIRST_INTERVAL + 30)?.choice).toBe('Jupiter');
  });

  test('does not fill a gap that both have', () => {
    const [own, otherTab] = [createGameFixture({ isBeginning: false }), createGameFixture()];
    otherTab.play('a', 5, 'Jupiter');
    own.skipTo(50);
    own.publish(60);
    own.quizGame.merge(otherTab.quizGame.serialize());
    expect(own.quizGame.isWinning(FIRST_INTERVAL + 60)).toBeNull();
  });

  test('has no effect for an answer that is still being sent: it may be rejected', () => {
    const [own, otherTab] = [createGameFixture(), createGameFixture()];
    const quiz = { type: 'quiz', data: createQuiz('a', FIRST_INTERVAL) };
    for (const { publish } of [own, otherTab]) publish(0, quiz);
    otherTab.update({ choice: 'Mars' });
    own.quizGame.merge(otherTab.quizGame.serialize());
    expect(own.quizGame.quizAt(FIRST_INTERVAL)?.choice).toBeNull();
  });

  test.each([
    ['counted', 'Jupiter', 'other-answer', 'Mars'],
    ['counted', 'Jupiter', 'unknown', 'Mars'],
    ['too-late', 'Mars', 'too-late', 'Jupiter'],
    [null, 'Mars', 'counted', 'Jupiter'],
  ] as const)(
    'does not replace the own answer (%p %s) by the other one (%s %s)',
    (mine, choice, theirs, other) => {
      const [own, otherTab] = [createGameFixture(), createGameFixture()];
      const quiz = createQuiz('a', FIRST_INTERVAL);
      for (const { publish } of [own, otherTab]) publish(0, { type: 'quiz', data: quiz });
      own.update({ choice, outcome: mine });
      otherTab.update({ choice: other, outcome: theirs });
      otherTab.publish(20, { type: 'quiz-results', data: createResults(quiz) });
      own.quizGame.merge(otherTab.quizGame.serialize());
      expect(own.quizGame.quizAt(FIRST_INTERVAL)).toMatchObject({ choice, outcome: mine });
      expect(own.quizGame.quizAt(FIRST_INTERVAL + 20)?.results?.answer).toBe('Jupiter');
    },
  );

  test('is ignored when its shape is invalid', () => {
    const { quizGame, publish } = createGameFixture();
    publish(0);
    quizGame.merge('{"quizzes":[]}');
    expect(quizGame.isWinning(FIRST_INTERVAL)).toBe(true);
  });
});

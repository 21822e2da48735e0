import { afterEach, describe, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll, QUIZ } from '../test/support/sdk/join-fixture.ts';

// A viewer's quizzes, answers, events and chat, with the mock service in virtual time.

afterEach(leaveAll);

describe.each(['stream', 'poll'] as const)('with the feed by %s', (transport) => {
  test('a viewer sees a quiz, answers, gets its results and wins', async () => {
    const { machine, service, join } = createJoinFixture();
    service.setStatus('CREATED');
    const viewer = join({ transport });
    await machine.advance(2_000);
    const quiz = service.openQuiz(QUIZ);
    await machine.advance(1_000);
    expect(viewer.quiz?.quiz.id).toBe(quiz.id);
    expect(viewer.remainingMs()).toBeGreaterThan(3_000);
    const outcome = viewer.answer('Jupiter');
    expect(viewer.quiz).toMatchObject({ choice: 'Jupiter', outcome: null });
    await machine.advance(500);
    expect(await outcome).toBe('counted');
    expect(viewer.quiz?.outcome).toBe('counted');
    expect([...service.answersTo(quiz.id)]).toEqual([['ada', 'Jupiter']]);
    await machine.advance(6_000);
    expect(viewer.quiz?.results?.answer).toBe('Jupiter');
    expect(viewer.remainingMs()).toBe(0);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: false, count: null });
    service.requestWinners();
    await machine.advance(3_000);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: true, count: 1 });
  });
});

describe('a viewer who waits for the show, and cannot read its feed when it starts,', () => {
  test('does not know whether it is winning: it may have missed a quiz', async () => {
    const { machine, service, join } = createJoinFixture();
    service.setStatus('CREATED');
    const endFault = service.fail({ result: 503, matches: ({ path }) => path.endsWith('/token') });
    const viewer = join();
    await machine.advance(2_000);
    service.setStatus('STREAMING');
    service.openQuiz(QUIZ);
    await machine.advance(20_000);
    endFault();
    await machine.advance(20_000);
    service.openQuiz(QUIZ);
    await machine.advance(1_000);
    viewer.answer('Jupiter');
    await machine.advance(6_000);
    expect(viewer.quiz).toMatchObject({ outcome: 'counted', results: { answer: 'Jupiter' } });
    expect(viewer.snapshot.winners.isWinning).toBeNull();
  });
});

describe('an answer', () => {
  test('is refused without a quiz, with an unknown choice, after another choice, and after the end', async () => {
    const { machine, service, requests, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(1_000);
    const kindOf = (choice: string) => viewer.answer(choice).catch(({ kind }) => kind);
    const answers = () => requests.filter((request) => request.endsWith('/answer')).length;
    expect(await kindOf('Mars')).toBe('refused');
    service.openQuiz(QUIZ);
    await machine.advance(500);
    expect(await kindOf('Pluto')).toBe('refused');
    expect(answers()).toBe(0);
    const first = viewer.answer('Mars');
    expect(await kindOf('Jupiter')).toBe('refused');
    // The same choice again is allowed.
    const again = viewer.answer('Mars');
    await machine.advance(500);
    expect(await Promise.all([first, again])).toEqual(['counted', 'counted']);
    await machine.advance(6_000);
    expect(await kindOf('Mars')).toBe('counted');
    expect(await kindOf('Jupiter')).toBe('refused');
    service.openQuiz({ ...QUIZ, durationMs: 2_000, reveal: 'manual' });
    await machine.advance(2_100);
    expect(viewer.quiz?.choice).toBeNull();
    expect(await kindOf('Mars')).toBe('refused');
    expect(answers()).toBe(1);
  });

  test('that the service rejected may be given again', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(1_000);
    service.openQuiz(QUIZ);
    await machine.advance(500);
    const endFault = service.fail({ result: 404, matches: ({ path }) => path.endsWith('/answer') });
    const first = viewer.answer('Mars').catch(({ kind }) => kind);
    await machine.advance(500);
    expect(await first).toBe('unknown');
    expect(viewer.quiz?.choice).toBeNull();
    endFault();
    const second = viewer.answer('Jupiter');
    await machine.advance(500);
    expect(await second).toBe('counted');
  });

  test('counts until the countdown ends, which is before the quiz closes', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(1_000);
    const { closeInterval } = service.openQuiz(QUIZ);
    await machine.advance(500);
    const remainingMs = viewer.remainingMs();
    expect(remainingMs).toBeLessThanOrEqual(closeInterval * 250 - machine.nowMs - 100);
    expect(remainingMs).toBeGreaterThan(4_000);
    await machine.advance(remainingMs - 50);
    const last = viewer.answer('Mars');
    await machine.advance(100);
    expect(await last).toBe('counted');
    expect(viewer.remainingMs()).toBe(0);
  });
});

describe('events', () => {
  test('are emitted after the change, as the interval and then one by one, with a new snapshot only then', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(2_100);
    const received: unknown[] = [];
    viewer.on('interval', ({ events }) => events.length && received.push('interval'));
    viewer.on('event', ({ type }) => received.push(type));
    viewer.on('chats', ({ messages }) => received.push(messages[0]?.text));
    viewer.on('x-goal', (data) => received.push(data));
    viewer.on('change', (snapshot) => received.push(snapshot === viewer.snapshot && 'change'));
    const before = viewer.snapshot;
    service.sendMessage('message', 'Hello', 'Grace');
    service.publish('x-goal', { by: 'Ada' });
    await machine.advance(300);
    expect(received).toEqual(['change', 'interval', 'chats', 'Hello', 'x-goal', { by: 'Ada' }]);
    expect(viewer.snapshot).not.toBe(before);
    expect(viewer.snapshot.messages).toMatchObject([
      { kind: 'message', text: 'Hello', name: 'Grace' },
    ]);
    const after = viewer.snapshot;
    received.length = 0;
    service.publish('x-goal');
    await machine.advance(300);
    expect(viewer.snapshot).toBe(after);
    expect(received).not.toContain('change');
  });

  test('of the producer with the name of an SDK event are emitted as `event` only', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(2_100);
    const received: unknown[] = [];
    viewer.on('gap', (gap) => received.push(gap));
    viewer.on('event', ({ type }) => type === 'gap' && received.push(type));
    service.publish('gap', { mind: 'it' });
    await machine.advance(300);
    expect(received).toEqual(['gap']);
  });

  test('reach other listeners when one throws, and no removed ones', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(1_000);
    const { error } = console;
    const errors: unknown[] = [];
    console.error = (error: unknown) => errors.push(error);
    const received: string[] = [];
    viewer.on('x-goal', () => {
      throw new Error('mine');
    });
    viewer.on('x-goal', () => received.push('second'));
    viewer.on('x-goal', () => received.push('ended'))();
    service.publish('x-goal');
    await machine.advance(500);
    console.error = error;
    expect(received).toEqual(['second']);
    expect(errors).toEqual([new Error('mine')]);
  });
});

describe('the snapshot', () => {
  test('is the same object while nothing changes', async () => {
    const { machine, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(3_000);
    const before = viewer.snapshot;
    let changes = 0;
    viewer.on('change', () => changes++);
    await machine.advance(60_000);
    expect(viewer.snapshot).toBe(before);
    expect(changes).toBe(0);
  });
});

describe('the chat', () => {
  test('a message has the name of its sender, and arrives in the feed', async () => {
    const { machine, join } = createJoinFixture();
    const viewer = join({ name: 'Ada' });
    await machine.advance(1_000);
    const sent = viewer.sendMessage('question', 'Why?');
    await machine.advance(500);
    await sent;
    viewer.name = '';
    viewer.sendMessage('cheer', 'Bravo!');
    await machine.advance(500);
    expect(viewer.snapshot.messages).toMatchObject([
      { kind: 'question', text: 'Why?', name: 'Ada' },
      { kind: 'cheer', text: 'Bravo!', name: '' },
    ]);
  });

  test('a message that the service rejects throws `refused`', async () => {
    const { machine, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(1_000);
    const sent = viewer.sendMessage('message', '').catch(({ kind }) => kind);
    await machine.advance(500);
    expect(await sent).toBe('refused');
  });

  test('hearts and discounts are counted', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(1_000);
    for (let heart = 0; heart < 5; heart++) viewer.sendHeart();
    service.sendHearts(3);
    service.sendDiscounts(2);
    await machine.advance(2_000);
    expect(viewer.snapshot).toMatchObject({ hearts: 8, discounts: 2 });
  });
});

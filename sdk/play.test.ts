import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, QUIZ, world } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

describe.each(['stream', 'poll'] as const)('with the feed by %s', (transport) => {
  test('a quiz is seen, answered, revealed and won', async () => {
    const { machine, service, join } = world();
    service.setStatus('CREATED');
    const viewer = join({ transport });
    await machine.advance(2_000);
    const asked = service.openQuiz(QUIZ);
    await machine.advance(1_000);
    expect(viewer.quiz?.quiz.id).toBe(asked.id);
    expect(viewer.remainingMs()).toBeGreaterThan(3_000);
    const outcome = viewer.answer('Jupiter');
    expect(viewer.quiz).toMatchObject({ choice: 'Jupiter', outcome: null });
    await machine.advance(500);
    expect(await outcome).toBe('counted');
    expect(viewer.quiz?.outcome).toBe('counted');
    expect([...service.answersTo(asked.id)]).toEqual([['ada', 'Jupiter']]);
    await machine.advance(6_000);
    expect(viewer.quiz?.results?.answer).toBe('Jupiter');
    expect(viewer.remainingMs()).toBe(0);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: false, count: null });
    service.requestWinners();
    await machine.advance(3_000);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: true, count: 1 });
  });
});

describe('who waits for the show, and cannot read its feed when it begins,', () => {
  test('does not know whether it is winning: a quiz may have been asked', async () => {
    const { machine, service, join } = world();
    service.setStatus('CREATED');
    const mend = service.fail({ how: 503, when: ({ path }) => path.endsWith('/token') });
    const viewer = join();
    await machine.advance(2_000);
    service.setStatus('STREAMING');
    service.openQuiz(QUIZ);
    await machine.advance(20_000);
    mend();
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
  test('is refused without a quiz, with no such choice, after another one, and after the end', async () => {
    const { machine, service, requests, join } = world();
    const viewer = join();
    await machine.advance(1_000);
    const kindOf = (choice: string) => viewer.answer(choice).catch(({ kind }) => kind);
    const answers = () => requests.filter((one) => one.endsWith('/answer')).length;
    expect(await kindOf('Mars')).toBe('refused');
    service.openQuiz(QUIZ);
    await machine.advance(500);
    expect(await kindOf('Pluto')).toBe('refused');
    expect(answers()).toBe(0);
    const first = viewer.answer('Mars');
    expect(await kindOf('Jupiter')).toBe('refused');
    // The same one is no other one.
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

  test('that the service does not want may be given again', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    await machine.advance(1_000);
    service.openQuiz(QUIZ);
    await machine.advance(500);
    const mend = service.fail({ how: 404, when: ({ path }) => path.endsWith('/answer') });
    const first = viewer.answer('Mars').catch(({ kind }) => kind);
    await machine.advance(500);
    expect(await first).toBe('unknown');
    expect(viewer.quiz?.choice).toBeNull();
    mend();
    const second = viewer.answer('Jupiter');
    await machine.advance(500);
    expect(await second).toBe('counted');
  });

  test('has time until the countdown ends, which is before answers stop', async () => {
    const { machine, service, join } = world();
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

describe('what is told', () => {
  test('an interval, then its events one by one, then the change; the snapshot is new only then', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    await machine.advance(2_100);
    const told: unknown[] = [];
    viewer.on('interval', ({ events }) => events.length && told.push('interval'));
    viewer.on('event', ({ type }) => told.push(type));
    viewer.on('chats', ({ messages }) => told.push(messages[0]?.text));
    viewer.on('x-goal', (data) => told.push(data));
    viewer.on('change', (snapshot) => told.push(snapshot === viewer.snapshot && 'change'));
    const before = viewer.snapshot;
    service.say('message', 'Hello', 'Grace');
    service.publish('x-goal', { by: 'Ada' });
    await machine.advance(300);
    expect(told).toEqual(['interval', 'chats', 'Hello', 'x-goal', { by: 'Ada' }, 'change']);
    expect(viewer.snapshot).not.toBe(before);
    expect(viewer.snapshot.lines).toMatchObject([
      { kind: 'message', text: 'Hello', name: 'Grace' },
    ]);
    const after = viewer.snapshot;
    told.length = 0;
    service.publish('x-goal');
    await machine.advance(300);
    expect(viewer.snapshot).toBe(after);
    expect(told).not.toContain('change');
  });

  test('a producer has no say in what the viewer itself tells', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    await machine.advance(2_100);
    const told: unknown[] = [];
    viewer.on('gap', (gap) => told.push(gap));
    viewer.on('event', ({ type }) => type === 'gap' && told.push(type));
    service.publish('gap', { mind: 'it' });
    await machine.advance(300);
    expect(told).toEqual(['gap']);
  });

  test('a listener that throws stops no other, and one that was ended hears nothing', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    await machine.advance(1_000);
    const { error } = console;
    const errors: unknown[] = [];
    console.error = (one: unknown) => errors.push(one);
    const told: string[] = [];
    viewer.on('x-goal', () => {
      throw new Error('mine');
    });
    viewer.on('x-goal', () => told.push('second'));
    viewer.on('x-goal', () => told.push('ended'))();
    service.publish('x-goal');
    await machine.advance(500);
    console.error = error;
    expect(told).toEqual(['second']);
    expect(errors).toEqual([new Error('mine')]);
  });
});

describe('the snapshot', () => {
  test('is the same while all that is told is what was told before', async () => {
    const { machine, join } = world();
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
  test('a line has the name of who says it, and comes with the feed', async () => {
    const { machine, join } = world();
    const viewer = join({ name: 'Ada' });
    await machine.advance(1_000);
    const said = viewer.say('question', 'Why?');
    await machine.advance(500);
    await said;
    viewer.name = '';
    viewer.say('cheer', 'Bravo!');
    await machine.advance(500);
    expect(viewer.snapshot.lines).toMatchObject([
      { kind: 'question', text: 'Why?', name: 'Ada' },
      { kind: 'cheer', text: 'Bravo!', name: '' },
    ]);
  });

  test('what the service does not take is told to who said it', async () => {
    const { machine, join } = world();
    const viewer = join();
    await machine.advance(1_000);
    const said = viewer.say('message', '').catch(({ kind }) => kind);
    await machine.advance(500);
    expect(await said).toBe('refused');
  });

  test('hearts are counted where everybody sees them', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    await machine.advance(1_000);
    for (let heart = 0; heart < 5; heart++) viewer.heart();
    service.hearts(3);
    service.discounts(2);
    await machine.advance(2_000);
    expect(viewer.snapshot).toMatchObject({ hearts: 8, discounts: 2 });
  });
});

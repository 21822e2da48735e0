import { afterEach, describe, expect, test } from 'bun:test';
import { FakeMachine, type FakeMachineOptions } from './fake-machine.ts';
import { join } from './join.ts';
import type { JoinOptions } from './join-options.ts';
import { type MockService, mockService } from './mock/mock-service.ts';
import { pictureOf } from './pictures.ts';
import type { Viewer } from './viewer.ts';

const QUIZ = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter'],
  answer: 'Jupiter',
  durationMs: 5_000,
};

interface World {
  readonly machine: FakeMachine;
  readonly service: MockService;
  /** `METHOD path` of each request. */
  readonly requests: string[];
  join(options?: Partial<JoinOptions>): Viewer;
}

const joined: Viewer[] = [];
afterEach(() => {
  for (const viewer of joined.splice(0)) viewer.leave();
});

function world(options: FakeMachineOptions = {}, latencyAllowanceMs = 0): World {
  const requests: string[] = [];
  const machine: FakeMachine = new FakeMachine({
    ...options,
    fetch: (url, init) => {
      requests.push(`${init?.method ?? 'GET'} ${new URL(url).pathname}`);
      return service.fetch(url, init);
    },
  });
  const service: MockService = mockService({
    now: () => machine.nowMs,
    after: machine.environment.after,
    latencyAllowanceMs,
  });
  return {
    machine,
    service,
    requests,
    join: (more) => {
      const viewer = join({
        baseUrl: 'https://live.example',
        streamId: service.streamId,
        viewerId: 'ada',
        storage: null,
        environment: machine.environment,
        ...more,
      } as JoinOptions);
      joined.push(viewer);
      return viewer;
    },
  };
}

test('who joins is live, is counted, and sees the stream', async () => {
  const { machine, join } = world();
  const viewer = join();
  expect(viewer.state).toBe('joining');
  await machine.advance(3_000);
  expect(viewer.state).toBe('live');
  expect(viewer.count).toEqual({ value: 1, formatted: '1' });
  expect(viewer.snapshot.stream?.status).toBe('STREAMING');
  expect(Math.abs(viewer.clock.nowMs() - machine.nowMs)).toBeLessThan(5);
});

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

describe('the show', () => {
  test('is over when it has ended and what is left of its feed is here', async () => {
    const { machine, service, requests, join } = world();
    const viewer = join();
    await machine.advance(2_000);
    service.openQuiz({ ...QUIZ, durationMs: 20_000 });
    service.setStatus('ENDED');
    await machine.advance(16_000);
    expect(viewer.snapshot.stream?.status).toBe('ENDED');
    // A quiz of an ended stream is open to its close (SPEC Q-23).
    expect(viewer.state).toBe('live');
    await machine.advance(8_000);
    expect(viewer.state).toBe('ended');
    expect(viewer.quiz?.results?.answer).toBe('Jupiter');
    requests.length = 0;
    await machine.advance(60_000);
    expect(requests).toEqual([]);
  });

  test('that is over already has no feed, and counts nobody', async () => {
    const { machine, service, requests, join } = world();
    service.setStatus('ENDED');
    const viewer = join();
    await machine.advance(30_000);
    expect(viewer.state).toBe('ended');
    expect(requests.some((one) => one.includes('events-streams'))).toBe(false);
    expect(requests.some((one) => one.includes('view-counts'))).toBe(false);
  });
});

describe('trouble', () => {
  test('is told, is tried again, and goes', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    await machine.advance(2_000);
    const mend = service.fail({ how: 'cut' });
    service.cutStreams();
    await machine.advance(3_000);
    expect(viewer.state).toBe('offline');
    expect(viewer.snapshot.trouble?.kind).toBe('away');
    mend();
    await machine.advance(20_000);
    expect(viewer.state).toBe('live');
    expect(viewer.snapshot.trouble).toBeNull();
  });

  test('a stream that is not there is said to be unknown', async () => {
    const { machine, join } = world();
    const viewer = join({ streamId: '5b0f6a3e-4e7c-4f0e-9a57-5f9a3f1c9a11' });
    await machine.advance(3_000);
    expect(viewer.state).toBe('offline');
    expect(viewer.snapshot.trouble?.kind).toBe('unknown');
  });

  test('an app whose tokens are not taken hears that it is denied', async () => {
    const { machine, join } = world();
    const viewer = join({ getToken: async () => 'nonsense' });
    await machine.advance(3_000);
    expect(viewer.snapshot.trouble?.kind).toBe('denied');
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

describe('with a picture that is 6 s late', () => {
  const LATE_MS = 6_000;

  test('the quiz is there with its picture, and the countdown runs on what is seen', async () => {
    const { machine, service, join } = world({}, 2 * LATE_MS);
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(8_000);
    service.openQuiz(QUIZ);
    await machine.advance(LATE_MS - 500);
    expect(viewer.quiz).toBeNull();
    await machine.advance(1_000);
    expect(viewer.quiz).not.toBeNull();
    expect(viewer.remainingMs()).toBeGreaterThan(4_000);
    await machine.advance(4_600);
    expect(viewer.remainingMs()).toBe(0);
  });

  test('the countdown ends when answers stop, however much of it is on screen', async () => {
    const { machine, service, join } = world();
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(8_000);
    service.openQuiz({ ...QUIZ, durationMs: 2 * LATE_MS });
    await machine.advance(LATE_MS + 500);
    expect(viewer.remainingMs()).toBeGreaterThan(LATE_MS - 1_000);
    expect(viewer.remainingMs()).toBeLessThan(LATE_MS - 500);
  });

  test('who had none until now has it without a request: what was shown is kept', async () => {
    const { machine, service, requests, join } = world();
    const viewer = join();
    await machine.advance(8_000);
    service.say('message', 'Hello');
    await machine.advance(4_000);
    expect(viewer.snapshot.lines).toHaveLength(1);
    requests.length = 0;
    const shown: number[] = [];
    viewer.on('jump', ({ interval }) => shown.push(interval));
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(1_000);
    expect(shown).toHaveLength(1);
    // It has not happened there yet.
    expect(viewer.snapshot.lines).toEqual([]);
    await machine.advance(2_000);
    expect(viewer.snapshot.lines).toHaveLength(1);
    expect(requests.filter((one) => one.includes('events-streams'))).toEqual([]);
  });

  test('what is kept of it is half a minute', async () => {
    const { machine, join } = world();
    const viewer = join();
    await machine.advance(60_000);
    let kept: number[] = [];
    const { wallClockMs, hold } = pictureOf(() => null);
    viewer.follow({
      wallClockMs,
      hold: (env, past, listener, shown) => {
        kept = shown.map(({ interval }) => interval);
        return hold(env, past, listener, shown);
      },
    });
    expect(kept).toHaveLength(120);
    expect(kept.at(-1)).toBe(Math.floor(machine.nowMs / 250) - 1);
  });

  test.each(['before', 'after'])(
    'a show that is over is replayed: followed %s its end',
    async (when) => {
      const { machine, service, join } = world();
      const viewer = join({ catchUpMs: 5_000 });
      const startMs = machine.nowMs;
      let wallMs = startMs;
      const picture = pictureOf(() => wallMs);
      if (when === 'before') viewer.follow(picture);
      await machine.advance(1_000);
      service.say('message', 'Hello');
      for (let s = 0; s < 60; s++) {
        await machine.advance(1_000);
        wallMs += 1_000;
      }
      service.setStatus('ENDED');
      await machine.advance(30_000);
      expect(viewer.state).toBe('ended');
      const endMs = machine.nowMs;
      service.say('message', 'after all was over');
      await machine.advance(5_000);
      if (when === 'after') viewer.follow(picture);
      await machine.advance(500);
      const told: string[] = [];
      viewer.on('chats', ({ messages }) => told.push(...messages.map(({ text }) => text)));
      const playFrom = async (ms: number) => {
        wallMs = ms;
        for (let s = 0; s < 20; s++) {
          await machine.advance(250);
          wallMs += 250;
        }
      };
      await playFrom(startMs);
      expect(told).toEqual(['Hello']);
      await playFrom(endMs - 1_000);
      expect(told).toEqual(['Hello', 'after all was over']);
    },
  );

  test('who has won reports at once, and sees it with the picture', async () => {
    const { machine, service, join } = world();
    service.setStatus('CREATED');
    const viewer = join();
    viewer.follow(pictureOf(() => machine.nowMs - LATE_MS));
    await machine.advance(8_000);
    service.requestWinners();
    await machine.advance(3_000);
    expect(viewer.snapshot.winners.count).toBeNull();
    await machine.advance(6_000);
    expect(viewer.snapshot.winners).toEqual({ isWinning: true, hasWon: true, count: 1 });
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

describe('leaving', () => {
  test('stops everything: no request, no timer, no news', async () => {
    const { machine, service, requests, join } = world();
    const viewer = join();
    await machine.advance(3_000);
    service.openQuiz(QUIZ);
    await machine.advance(500);
    service.fail({ how: 503, when: ({ path }) => path.endsWith('/answer') });
    const answer = viewer.answer('Mars').catch(({ kind }) => kind);
    viewer.heart();
    viewer.follow(pictureOf(() => machine.nowMs));
    await machine.advance(100);
    const states: string[] = [];
    viewer.on('change', ({ state }) => states.push(state));
    viewer.leave();
    expect(states).toEqual(['ended']);
    expect(await answer).toBe('left');
    await machine.settle();
    requests.length = 0;
    await machine.advance(60_000);
    expect(requests).toEqual([]);
    expect(machine.waiting).toBe(0);
    expect(await viewer.say('message', 'Hello').catch(({ kind }) => kind)).toBe('left');
    expect(await viewer.answer('Mars').catch(({ kind }) => kind)).toBe('left');
  });

  test.each([0, 1, 20, 260])('%p ms after joining leaves nothing behind', async (ms) => {
    const { machine, requests, join } = world();
    const viewer = join();
    await machine.advance(ms);
    viewer.leave();
    await machine.settle();
    requests.length = 0;
    await machine.advance(60_000);
    expect(requests).toEqual([]);
    expect(machine.waiting).toBe(0);
  });
});

describe('a reload', () => {
  function storage() {
    const kept = new Map<string, string>();
    return {
      kept,
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
  }

  test('in the middle of a quiz loses neither the quiz, nor the answer, nor the score', async () => {
    const { machine, service, join } = world();
    service.setStatus('CREATED');
    const options = { storage: storage() };
    const before = join(options);
    await machine.advance(2_000);
    service.setStatus('STREAMING');
    const asked = service.openQuiz(QUIZ);
    await machine.advance(1_000);
    const mend = service.fail({ how: 503, when: ({ path }) => path.endsWith('/answer') });
    before.answer('Jupiter').catch(() => {});
    await machine.advance(100);
    before.leave();
    mend();
    await machine.advance(1_000);
    const after = join(options);
    await machine.advance(1_000);
    expect(after.quiz).toMatchObject({ quiz: asked, choice: 'Jupiter', outcome: 'counted' });
    await machine.advance(4_000);
    expect(after.snapshot.winners.isWinning).toBe(true);
    expect(service.answersTo(asked.id).get('ada')).toBe('Jupiter');
  });

  test('needs no leaving: what happened is kept as it happens', async () => {
    const { machine, service, join } = world();
    const options = { storage: storage() };
    join(options);
    const nextOf = () => JSON.parse([...options.storage.kept.values()][0] ?? '{}').next;
    await machine.advance(22_500);
    expect(Math.floor(machine.nowMs / 250) - nextOf()).toBeLessThanOrEqual(21);
    service.openQuiz(QUIZ);
    await machine.advance(300);
    expect(Math.floor(machine.nowMs / 250) - nextOf()).toBeLessThanOrEqual(1);
  });

  test('of somebody from the future begins now', async () => {
    const { machine, join } = world();
    const options = { storage: storage() };
    const before = join(options);
    await machine.advance(2_000);
    before.leave();
    for (const [key, text] of options.storage.kept) {
      const record = JSON.parse(text);
      options.storage.kept.set(key, JSON.stringify({ ...record, next: record.next + 10_000 }));
    }
    const after = join(options);
    await machine.advance(2_000);
    expect(after.state).toBe('live');
  });

  test('shows a quiz that was asked meanwhile', async () => {
    const { machine, service, join } = world();
    const options = { storage: storage() };
    const before = join(options);
    await machine.advance(3_000);
    before.leave();
    const asked = service.openQuiz(QUIZ);
    await machine.advance(2_000);
    const after = join(options);
    await machine.advance(1_000);
    expect(after.quiz?.quiz.id).toBe(asked.id);
  });

  test('after a longer time begins anew', async () => {
    const { machine, join } = world();
    const options = { storage: storage() };
    const before = join(options);
    await machine.advance(3_000);
    before.leave();
    await machine.advance(30_000);
    const after = join(options);
    const shown: number[] = [];
    after.on('interval', ({ interval }) => shown.push(interval));
    await machine.advance(3_000);
    expect(shown[0]).toBeGreaterThanOrEqual(Math.floor((machine.nowMs - 3_000) / 250) - 4);
  });

  test('is as well without a storage that works', async () => {
    const { machine, join } = world();
    const broken = (): never => {
      throw new Error('The quota is full.');
    };
    const viewer = join({ storage: { getItem: broken, setItem: broken } });
    await machine.advance(3_000);
    expect(viewer.state).toBe('live');
  });
});

describe('options', () => {
  test('that are missing are named', () => {
    const { join } = world();
    const urls = { base: '', auth: '', viewCounts: '', polls: '', events: undefined as never };
    expect(() => join({ streamId: '' })).toThrow('streamId is missing');
    expect(() => join({ viewerId: '' })).toThrow('viewerId is missing');
    expect(() => join({ baseUrl: undefined as never })).toThrow('baseUrl or urls.base is missing');
    expect(() => join({ urls })).toThrow('urls.events is missing');
  });

  test('a service that is split is asked in each of its parts', async () => {
    const { machine, service, join } = world();
    const asked = new Set<string>();
    const fetch = (url: string, init?: RequestInit) => {
      asked.add(`${new URL(url).host} ${new URL(url).pathname.split('/')[3]}`);
      return service.fetch(url, init);
    };
    const viewer = join({
      urls: {
        base: 'https://base.example/',
        auth: 'https://auth.example',
        viewCounts: 'https://counts.example',
        polls: 'https://polls.example',
        events: 'https://events.example/',
      },
      environment: { ...machine.environment, fetch },
    });
    await machine.advance(2_000);
    service.openQuiz(QUIZ);
    await machine.advance(500);
    viewer.answer('Mars');
    await machine.advance(500);
    expect([...asked].sort()).toEqual([
      'auth.example token',
      'base.example streams',
      'base.example time',
      'counts.example view-counts',
      'events.example events-streams',
      'polls.example quizzes',
    ]);
  });
});

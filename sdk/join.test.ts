import { afterEach, describe, expect, test } from 'bun:test';
import {
  createJoinFixture,
  createStorage,
  expectSilence,
  leaveAll,
  QUIZ,
} from '../test/support/sdk/join-fixture.ts';
import { pictureOf } from './pictures.ts';

afterEach(leaveAll);

test('a viewer who joins becomes live, is counted, and has the stream', async () => {
  const { machine, join } = createJoinFixture();
  const viewer = join();
  expect(viewer.state).toBe('joining');
  await machine.advance(3_000);
  expect(viewer.state).toBe('live');
  expect(viewer.count).toEqual({ value: 1, formatted: '1' });
  expect(viewer.snapshot.stream?.status).toBe('STREAMING');
  expect(Math.abs(viewer.clock.nowMs() - machine.nowMs)).toBeLessThan(5);
});

describe('the show', () => {
  test('is `ended` when the stream has ended and the rest of its feed was read', async () => {
    const { machine, service, join, requests } = createJoinFixture();
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
    await expectSilence({ machine, requests });
    await viewer.sendMessage('message', 'It was good.');
    expect(requests).toEqual([
      'POST /api/v1/token',
      `POST /api/v1/events-streams/${service.streamId}/chats`,
    ]);
  });

  test('that is already over is not read, and sends no heartbeats', async () => {
    const { machine, service, requests, join } = createJoinFixture();
    service.setStatus('ENDED');
    const viewer = join();
    await machine.advance(30_000);
    expect(viewer.state).toBe('ended');
    expect(requests.some((request) => request.includes('events-streams'))).toBe(false);
    expect(requests.some((request) => request.includes('view-counts'))).toBe(false);
  });

  test.each([0, 500, 3_000])(
    'that is already over leaves no timer when the token arrives after %d ms',
    async (ms) => {
      const { machine, service, join } = createJoinFixture();
      service.setStatus('ENDED');
      const fetch: typeof machine.environment.fetch = async (url, init) => {
        if (url.endsWith('/token')) await machine.wait(ms);
        return machine.environment.fetch(url, init);
      };
      const viewer = join({ environment: { ...machine.environment, fetch } });
      await machine.advance(5_000);
      expect(viewer.state).toBe('ended');
      expect(machine.pendingTimers).toBe(0);
    },
  );
});

describe('an error', () => {
  test('is in the snapshot until a retry succeeds', async () => {
    const { machine, service, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(2_000);
    const endFault = service.fail({ result: 'cut' });
    service.breakStreams();
    await machine.advance(3_000);
    expect(viewer.state).toBe('offline');
    expect(viewer.snapshot.error?.kind).toBe('unavailable');
    endFault();
    await machine.advance(20_000);
    expect(viewer.state).toBe('live');
    expect(viewer.snapshot.error).toBeNull();
  });

  test('of a stream that does not exist is `unknown`', async () => {
    const { machine, join } = createJoinFixture();
    const viewer = join({ streamId: '5b0f6a3e-4e7c-4f0e-9a57-5f9a3f1c9a11' });
    await machine.advance(3_000);
    expect(viewer.state).toBe('offline');
    expect(viewer.snapshot.error?.kind).toBe('unknown');
  });

  test('of an app whose tokens are rejected is `denied`', async () => {
    const { machine, join } = createJoinFixture();
    const viewer = join({ getToken: async () => 'nonsense' });
    await machine.advance(3_000);
    expect(viewer.snapshot.error?.kind).toBe('denied');
  });
});

describe('leaving', () => {
  test('stops all requests, timers and events', async () => {
    const { machine, service, requests, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(3_000);
    service.openQuiz(QUIZ);
    await machine.advance(500);
    service.fail({ result: 503, matches: ({ path }) => path.endsWith('/answer') });
    const answer = viewer.answer('Mars').catch(({ kind }) => kind);
    viewer.sendHeart();
    viewer.follow(pictureOf(() => machine.nowMs));
    await machine.advance(100);
    const states: string[] = [];
    viewer.on('change', ({ state }) => states.push(state));
    viewer.leave();
    expect(states).toEqual(['ended']);
    expect(await answer).toBe('left');
    await expectSilence({ machine, requests });
    expect(await viewer.sendMessage('message', 'Hello').catch(({ kind }) => kind)).toBe('left');
    expect(await viewer.answer('Mars').catch(({ kind }) => kind)).toBe('left');
  });

  test('while a token is requested sends nothing when it arrives', async () => {
    const { machine, service, requests, join } = createJoinFixture();
    let provideToken = (_: string) => {};
    const getToken = () => new Promise<string>((resolve) => (provideToken = resolve));
    const viewer = join({ getToken });
    await machine.advance(3_000);
    const issued = await service.fetch('https://live.example/api/v1/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ stream_id: service.streamId, unique_user_identifier: 'ada' }),
    });
    const { token } = (await issued.json()) as { token: string };
    viewer.leave();
    requests.length = 0;
    provideToken(token);
    await machine.advance(5_000);
    expect(requests).toEqual([]);
    expect(machine.pendingTimers).toBe(0);
  });

  test.each([0, 1, 20, 260])('%p ms after joining leaves no requests or timers', async (ms) => {
    const { machine, requests, join } = createJoinFixture();
    const viewer = join();
    await machine.advance(ms);
    viewer.leave();
    await expectSilence({ machine, requests });
  });
});

describe('a reload', () => {
  test('in the middle of a quiz keeps the quiz, the answer and the score', async () => {
    const { machine, service, join } = createJoinFixture();
    service.setStatus('CREATED');
    const options = { storage: createStorage() };
    const before = join(options);
    await machine.advance(2_000);
    service.setStatus('STREAMING');
    const quiz = service.openQuiz(QUIZ);
    await machine.advance(1_000);
    const endFault = service.fail({ result: 503, matches: ({ path }) => path.endsWith('/answer') });
    before.answer('Jupiter').catch(() => {});
    await machine.advance(100);
    before.leave();
    endFault();
    await machine.advance(1_000);
    const after = join(options);
    await machine.advance(1_000);
    expect(after.quiz).toMatchObject({ quiz, choice: 'Jupiter', outcome: 'counted' });
    await machine.advance(4_000);
    expect(after.snapshot.winners.isWinning).toBe(true);
    expect(service.answersTo(quiz.id).get('ada')).toBe('Jupiter');
  });

  test.each(['{}', '[]', '{"quizzes":[]}', 'null', 'none'])(
    'with the stored state %p starts anew',
    async (stored) => {
      const { machine, join } = createJoinFixture();
      const viewer = join({ storage: { getItem: () => stored, setItem: () => {} } });
      await machine.advance(2_000);
      expect(viewer.state).toBe('live');
    },
  );

  test('needs no `leave`: the state is stored continuously', async () => {
    const { machine, service, join } = createJoinFixture();
    const options = { storage: createStorage() };
    join(options);
    const storedNext = () => JSON.parse([...options.storage.entries.values()][0] ?? '{}').next;
    await machine.advance(22_500);
    expect(Math.floor(machine.nowMs / 250) - storedNext()).toBeLessThanOrEqual(21);
    service.openQuiz(QUIZ);
    await machine.advance(300);
    expect(Math.floor(machine.nowMs / 250) - storedNext()).toBeLessThanOrEqual(1);
  });

  test('with a stored position in the future starts now', async () => {
    const { machine, join } = createJoinFixture();
    const options = { storage: createStorage() };
    const before = join(options);
    await machine.advance(2_000);
    before.leave();
    for (const [key, text] of options.storage.entries) {
      const state = JSON.parse(text);
      options.storage.entries.set(key, JSON.stringify({ ...state, next: state.next + 10_000 }));
    }
    const after = join(options);
    await machine.advance(2_000);
    expect(after.state).toBe('live');
  });

  test('shows a quiz that was published meanwhile', async () => {
    const { machine, service, join } = createJoinFixture();
    const options = { storage: createStorage() };
    const before = join(options);
    await machine.advance(3_000);
    before.leave();
    const quiz = service.openQuiz(QUIZ);
    await machine.advance(2_000);
    const after = join(options);
    await machine.advance(1_000);
    expect(after.quiz?.quiz.id).toBe(quiz.id);
  });

  test('after a longer absence starts anew', async () => {
    const { machine, join } = createJoinFixture();
    const options = { storage: createStorage() };
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

  test('right after a request for winners reports the viewer, but not when the round is over', async () => {
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
    await machine.advance(6_000);
    join(options);
    await machine.advance(3_000);
    expect(requests.filter(isReport)).toHaveLength(1);
  });

  test('works with a storage that throws', async () => {
    const { machine, join } = createJoinFixture();
    const broken = (): never => {
      throw new Error('The quota is full.');
    };
    const viewer = join({ storage: { getItem: broken, setItem: broken } });
    await machine.advance(3_000);
    expect(viewer.state).toBe('live');
  });
});

describe('options', () => {
  test('throw an error that names the missing one', () => {
    const { join } = createJoinFixture();
    const urls = { base: '', auth: '', viewCounts: '', polls: '', events: undefined as never };
    expect(() => join({ streamId: '' })).toThrow('streamId is missing');
    expect(() => join({ viewerId: '' })).toThrow('viewerId is missing');
    expect(() => join({ baseUrl: undefined as never })).toThrow('baseUrl or urls.base is missing');
    expect(() => join({ urls })).toThrow('urls.events is missing');
  });

  test('with several URLs send each request to its part of the service', async () => {
    const { machine, service, join } = createJoinFixture();
    const requested = new Set<string>();
    const fetch = (url: string, init?: RequestInit) => {
      requested.add(`${new URL(url).host} ${new URL(url).pathname.split('/')[3]}`);
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
    expect([...requested].sort()).toEqual([
      'auth.example token',
      'base.example streams',
      'base.example time',
      'counts.example view-counts',
      'events.example events-streams',
      'polls.example quizzes',
    ]);
  });
});

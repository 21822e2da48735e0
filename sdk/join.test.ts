import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, QUIZ, storage, world } from '../test/support/sdk/join-fixture.ts';
import { pictureOf } from './pictures.ts';

afterEach(leaveAll);

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

  test('while a token is on its way sends nothing more, whenever that comes', async () => {
    const { machine, service, requests, join } = world();
    let come = (_: string) => {};
    const getToken = () => new Promise<string>((resolve) => (come = resolve));
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
    come(token);
    await machine.advance(5_000);
    expect(requests).toEqual([]);
    expect(machine.waiting).toBe(0);
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

  test.each(['{}', '[]', '{"quizzes":[]}', 'null', 'none'])(
    'of somebody who kept %p begins anew',
    async (kept) => {
      const { machine, join } = world();
      const viewer = join({ storage: { getItem: () => kept, setItem: () => {} } });
      await machine.advance(2_000);
      expect(viewer.state).toBe('live');
    },
  );

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

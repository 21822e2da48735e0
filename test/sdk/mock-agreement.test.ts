import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Harness, startService } from '../support/harness/harness.ts';
import {
  createMockTarget,
  createServiceTarget,
  type SuiteTarget,
} from '../support/sdk/suite-targets.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startService();
});
afterAll(() => harness.close());

const QUIZ = { choices: ['Mars', '2', '1'], answer: '2', durationMs: 1_000 };
const MUG = {
  ...{ name: 'Mug', picture_url: null, price: 1_250, currency: 'EUR' },
  ...{ url: 'https://shop.example.org/mug', stock: 3 },
};
const CHATS = (target: SuiteTarget) => `/api/v1/events-streams/${target.streamId}/chats`;
const COUNT = (target: SuiteTarget) => `/api/v1/view-counts/${target.streamId}`;
const WINNER = (target: SuiteTarget) => `/api/v1/quizzes/${target.streamId}/record-winner`;
const NO_STREAM = '11111111-1111-4111-8111-111111111111';

/** What a viewer reads in these intervals. */
async function feed(target: SuiteTarget, viewer: string, from: number, count: number) {
  const read = [];
  for (let interval = from; interval < from + count; interval++) {
    read.push(await target.call('GET', target.feedPath(interval), { viewer }));
  }
  return read;
}

const SHOWS: Record<string, (target: SuiteTarget) => Promise<unknown>> = {
  '[T-1] [T-2] [T-3] tokens': async (target) => {
    const request = (body: unknown) => target.call('POST', '/api/v1/token', { body });
    const identifier = { unique_user_identifier: 'ada' };
    return [
      (await request({ stream_id: NO_STREAM, ...identifier })).status,
      (await request({ stream_id: 'x', ...identifier })).status,
      (await request({ stream_id: target.streamId })).status,
      (await request({ stream_id: target.streamId, unique_user_identifier: 'x'.repeat(257) }))
        .status,
      (await request({ stream_id: target.streamId, unique_user_identifier: ' ' })).status,
    ];
  },
  '[T-5] [T-8] claims': async (target) => {
    const claimsOf = async (name: string) => {
      const { iss, sub, ...claims } = JSON.parse(
        atob((await target.token(name)).split('.')[1] ?? ''),
      ) as Record<string, string>;
      return { ...claims, sub: sub?.length };
    };
    return [await claimsOf('ada'), await claimsOf('bob'), await claimsOf('ada')];
  },
  '[T-6] [T-11] [T-13] requests with and without a valid token': async (target) => {
    const viewer = await target.token('ada');
    const answers = [
      await target.call('POST', COUNT(target), {}),
      await target.call('POST', COUNT(target), { viewer: 'x' }),
      await target.call('POST', `/api/v1/view-counts/${NO_STREAM}`, { viewer }),
      await target.call('GET', COUNT(target), { viewer }),
    ];
    await target.advance(599 * 4);
    answers.push(await target.call('GET', COUNT(target), { viewer }));
    await target.advance(4);
    return [...answers, await target.call('GET', COUNT(target), { viewer })];
  },
  '[S-5] [K-2] the stream and the time': async (target) => [
    Object.keys((await target.call('GET', `/api/v1/streams/${target.streamId}/`, {})).body),
    (await target.call('GET', `/api/v1/streams/${NO_STREAM}/`, {})).status,
    await target.call('GET', '/api/v1/time', {}),
    (await target.call('GET', '/api/v1/nothing', {})).status,
    (await target.call('DELETE', '/api/v1/time', {})).status,
  ],
  '[S-17] the open quiz for late viewers': async (target) => {
    const viewer = await target.token('ada');
    const path = `/api/v1/streams/${target.streamId}/`;
    const openFor = async (token: string) =>
      (await target.call('GET', path, { viewer: token })).body.quiz_interval;
    const received = [await openFor(viewer)];
    const quiz = await target.openQuiz({ ...QUIZ, durationMs: 10_000 });
    received.push(await openFor(viewer));
    await target.advance(3);
    const second = await target.openQuiz(QUIZ);
    received.push(await openFor(viewer));
    for (const { closeInterval } of [second, quiz]) {
      await target.advance(2);
      const lateToken = await target.token('bob');
      received.push(await openFor(lateToken));
      await target.advance(closeInterval - 1 - target.interval());
      received.push(await openFor(lateToken));
      await target.advance(1);
      received.push(await openFor(lateToken));
    }
    return [
      received,
      Object.keys((await target.call('GET', path, { viewer })).body),
      (await target.call('GET', path, { viewer: 'x' })).status,
      (await target.call('GET', `/api/v1/streams/${NO_STREAM}/`, { viewer })).status,
    ];
  },
  '[P-31] the product that viewers see': async (target) => {
    const viewer = await target.token('ada');
    const from = target.interval();
    const path = `/api/v1/streams/${target.streamId}/`;
    const shown = async () => (await target.call('GET', path, { viewer })).body.product;
    const received = [await shown()];
    const hide = await target.showProduct(MUG);
    received.push(await shown());
    await target.advance(1);
    await hide();
    received.push(await shown());
    await target.advance(1);
    return [received, await feed(target, viewer, from, 2)];
  },
  '[V-3] [V-5] [F-27] registrations and counts': async (target) => {
    const [ada, bob] = [await target.token('ada'), await target.token('bob')];
    const from = target.interval();
    await target.call('POST', COUNT(target), { viewer: ada });
    await target.call('POST', COUNT(target), { viewer: ada });
    await target.advance(2);
    await target.call('POST', COUNT(target), { viewer: bob });
    const counts = [];
    for (let step = 0; step < 8; step++) {
      counts.push(await target.call('GET', COUNT(target), { viewer: ada }));
      await target.advance(1);
    }
    await target.advance(12);
    return [counts, await feed(target, ada, from, 22)];
  },
  '[F-4] [F-5] [F-6] [F-7] [F-8] which intervals may be requested': async (target) => {
    const viewer = await target.token('ada');
    const now = target.interval();
    const longPoll = target.call('GET', target.feedPath(now + 4), { viewer });
    const rejected = [now + 5, 'x', '01', '-1', '1.0', ''].map((interval) =>
      target.call('GET', target.feedPath(interval), { viewer }),
    );
    const answers = await Promise.all(rejected);
    await target.advance(5);
    return [...answers, await longPoll, await target.call('GET', target.feedPath(3), { viewer })];
  },
  '[F-21] [F-22] [F-23] an event stream': async (target) => {
    const viewer = await target.token('ada');
    const from = target.interval() - 2;
    const reading = target.readStream(from, 6, viewer);
    await target.publish('lights', { colour: 'red' });
    await target.advance(5);
    await target.advance(11 * 240);
    return [await reading, await target.readStream(from, 5, viewer)];
  },
  '[C-2] [C-3] [C-5] [C-9] [C-10] the chat': async (target) => {
    const viewer = await target.token('ada');
    const from = target.interval();
    const post = (body: unknown) => target.call('POST', CHATS(target), { viewer, body });
    const answers = [
      await post({ kind: 'message', text: 'Hello', name: 'Ada' }),
      await post({ kind: 'question', text: 'x'.repeat(280) }),
      await post({ kind: 'greeting', text: 'x'.repeat(281) }),
      await post({ kind: 'cheer', text: '🎉'.repeat(280) }),
      await post({ kind: 'message', text: 'a\nb' }),
      await post({ kind: 'message', text: 'hi', name: '' }),
      await post({ kind: 'purchase', text: 'a mug' }),
      await post({ kind: 'constructor', text: 'x' }),
      await post({ kind: 'heart' }),
      await post({ kind: 'heart', count: 50 }),
      await post({ kind: 'heart', count: 51 }),
      await post([]),
      await target.call('POST', CHATS(target), { viewer }),
    ];
    await target.publish('purchase', { text: 'a mug', name: 'Bob' });
    await target.publish('discount', { count: 3 });
    await target.advance(2);
    return [answers, await feed(target, viewer, from, 2)];
  },
  '[Q-4] [Q-7] … [Q-21] [F-29] [F-32] a quiz': async (target) => {
    const viewers = await Promise.all(
      ['ada', 'bob', 'eve', 'kim'].map((name) => target.token(name)),
    );
    const [ada = '', bob = '', eve = '', kim = ''] = viewers;
    const from = target.interval();
    const quiz = await target.openQuiz(QUIZ);
    const answer = (viewer: string, choice: unknown, fields = {}, id = quiz.id) =>
      target.call('POST', `/api/v1/quizzes/${id}/answer`, {
        viewer,
        body: {
          streamId: target.streamId,
          closeInterval: quiz.closeInterval,
          ...{ choice, ...fields },
        },
      });
    const answers = [
      await answer(ada, '2'),
      await answer(ada, '2'),
      await answer(ada, '1'),
      await answer(bob, 'Mars'),
      await answer(eve, '1'),
      await answer(kim, '3'),
      await answer(kim, 2),
      await answer(kim, '2', { closeInterval: quiz.closeInterval + 1 }),
      await answer(kim, '2', { closeInterval: null }),
      await answer(kim, '2', { streamId: NO_STREAM }),
      await answer(kim, '2', {}, NO_STREAM),
    ];
    await target.advance(quiz.closeInterval - target.interval());
    answers.push(await answer(kim, '2'), await answer(ada, '2'), await answer(ada, '1'));
    await target.advance(2);
    answers.push(await answer(kim, '2'), await answer(bob, 'Mars'));
    return [quiz.closeInterval, answers, await feed(target, ada, from, 6)];
  },
  '[Q-18] [Q-19] [W-3] … [W-12] a quiz with manual reveal, and two games': async (target) => {
    const [ada, bob] = [await target.token('ada'), await target.token('bob')];
    const from = target.interval();
    const report = (viewer: string) => target.call('POST', WINNER(target), { viewer });
    const quiz = await target.openQuiz({ ...QUIZ, reveal: 'manual' });
    const body = { streamId: target.streamId, choice: '2', closeInterval: quiz.closeInterval };
    await target.call('POST', `/api/v1/quizzes/${quiz.id}/answer`, { viewer: ada, body });
    const refusals = [await target.requestWinners(), await target.reveal(quiz.id)];
    await target.advance(6);
    refusals.push(await target.requestWinners(), await target.reveal(quiz.id));
    refusals.push(await target.reveal(quiz.id));
    const reports = [await report(ada), (await report('x')).status];
    refusals.push(await target.requestWinners(), await target.requestWinners());
    reports.push(await report(ada), await report(ada), await report(bob));
    await target.advance(4);
    reports.push(await report(ada));
    await target.advance(1);
    reports.push(await report(ada));
    refusals.push(await target.requestWinners());
    reports.push(await report(bob));
    await target.advance(6);
    const events = await feed(target, ada, from, 17);
    reports.push(await report(ada), await report(bob));
    await target.advance(41);
    reports.push(await report(bob));
    return [refusals, reports, events];
  },
  '[S-16] a stream that has ended': async (target) => {
    const viewer = await target.token('ada');
    await target.end();
    const stream = await target.call('GET', `/api/v1/streams/${target.streamId}`, {});
    return [stream.body.status, await target.call('POST', COUNT(target), { viewer })];
  },
};

test.each(Object.keys(SHOWS))('the mock responds as the service does: %s', async (title) => {
  const show = SHOWS[title] as (target: SuiteTarget) => Promise<unknown>;
  // Both start at the same time, so that all times are equal.
  const mock = createMockTarget(harness.clock.nowMs());
  const real = await createServiceTarget(harness);
  const expected = await show(real);
  expect(withoutIds(await show(mock))).toEqual(withoutIds(expected));
});

/** Replaces ids, which differ. */
function withoutIds(value: unknown): unknown {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return JSON.parse(JSON.stringify(value).replace(uuid, 'uuid'), (key, member) =>
    key === 'viewer' || key === 'id' ? typeof member : member,
  );
}

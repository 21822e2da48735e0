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
const CHATS = (place: SuiteTarget) => `/api/v1/events-streams/${place.streamId}/chats`;
const COUNT = (place: SuiteTarget) => `/api/v1/view-counts/${place.streamId}`;
const WINNER = (place: SuiteTarget) => `/api/v1/quizzes/${place.streamId}/record-winner`;
const NO_STREAM = '11111111-1111-4111-8111-111111111111';

/** What a viewer reads of these intervals. */
async function feed(place: SuiteTarget, viewer: string, from: number, count: number) {
  const read = [];
  for (let interval = from; interval < from + count; interval++) {
    read.push(await place.call('GET', place.feedPath(interval), { viewer }));
  }
  return read;
}

const SHOWS: Record<string, (place: SuiteTarget) => Promise<unknown>> = {
  '[T-1] [T-2] [T-3] tokens': async (place) => {
    const ask = (body: unknown) => place.call('POST', '/api/v1/token', { body });
    const identifier = { unique_user_identifier: 'ada' };
    return [
      (await ask({ stream_id: NO_STREAM, ...identifier })).status,
      (await ask({ stream_id: 'x', ...identifier })).status,
      (await ask({ stream_id: place.streamId })).status,
      (await ask({ stream_id: place.streamId, unique_user_identifier: 'x'.repeat(257) })).status,
      (await ask({ stream_id: place.streamId, unique_user_identifier: ' ' })).status,
    ];
  },
  '[T-5] [T-8] claims': async (place) => {
    const claimsOf = async (name: string) => {
      const { iss, sub, ...claims } = JSON.parse(
        atob((await place.token(name)).split('.')[1] ?? ''),
      ) as Record<string, string>;
      return { ...claims, sub: sub?.length };
    };
    return [await claimsOf('ada'), await claimsOf('bob'), await claimsOf('ada')];
  },
  '[T-6] [T-11] [T-13] who is let in': async (place) => {
    const viewer = await place.token('ada');
    const answers = [
      await place.call('POST', COUNT(place), {}),
      await place.call('POST', COUNT(place), { viewer: 'x' }),
      await place.call('POST', `/api/v1/view-counts/${NO_STREAM}`, { viewer }),
      await place.call('GET', COUNT(place), { viewer }),
    ];
    await place.advance(599 * 4);
    answers.push(await place.call('GET', COUNT(place), { viewer }));
    await place.advance(4);
    return [...answers, await place.call('GET', COUNT(place), { viewer })];
  },
  '[S-5] [K-2] the stream and the time': async (place) => [
    Object.keys((await place.call('GET', `/api/v1/streams/${place.streamId}/`, {})).body),
    (await place.call('GET', `/api/v1/streams/${NO_STREAM}/`, {})).status,
    await place.call('GET', '/api/v1/time', {}),
    (await place.call('GET', '/api/v1/nothing', {})).status,
    (await place.call('DELETE', '/api/v1/time', {})).status,
  ],
  '[S-17] who comes in the middle of a quiz': async (place) => {
    const viewer = await place.token('ada');
    const path = `/api/v1/streams/${place.streamId}/`;
    const openFor = async (token: string) =>
      (await place.call('GET', path, { viewer: token })).body.quiz_interval;
    const received = [await openFor(viewer)];
    const quiz = await place.openQuiz({ ...QUIZ, durationMs: 10_000 });
    received.push(await openFor(viewer));
    await place.advance(3);
    const second = await place.openQuiz(QUIZ);
    received.push(await openFor(viewer));
    for (const { closeInterval } of [second, quiz]) {
      await place.advance(2);
      const late = await place.token('bob');
      received.push(await openFor(late));
      await place.advance(closeInterval - 1 - place.interval());
      received.push(await openFor(late));
      await place.advance(1);
      received.push(await openFor(late));
    }
    return [
      received,
      Object.keys((await place.call('GET', path, { viewer })).body),
      (await place.call('GET', path, { viewer: 'x' })).status,
      (await place.call('GET', `/api/v1/streams/${NO_STREAM}/`, { viewer })).status,
    ];
  },
  '[V-3] [V-5] [F-27] registrations and counts': async (place) => {
    const [ada, bob] = [await place.token('ada'), await place.token('bob')];
    const from = place.interval();
    await place.call('POST', COUNT(place), { viewer: ada });
    await place.call('POST', COUNT(place), { viewer: ada });
    await place.advance(2);
    await place.call('POST', COUNT(place), { viewer: bob });
    const counts = [];
    for (let step = 0; step < 8; step++) {
      counts.push(await place.call('GET', COUNT(place), { viewer: ada }));
      await place.advance(1);
    }
    await place.advance(12);
    return [counts, await feed(place, ada, from, 22)];
  },
  '[F-4] [F-5] [F-6] [F-7] [F-8] which intervals can be asked for': async (place) => {
    const viewer = await place.token('ada');
    const now = place.interval();
    const held = place.call('GET', place.feedPath(now + 4), { viewer });
    const refused = [now + 5, 'x', '01', '-1', '1.0', ''].map((asked) =>
      place.call('GET', place.feedPath(asked), { viewer }),
    );
    const answers = await Promise.all(refused);
    await place.advance(5);
    return [...answers, await held, await place.call('GET', place.feedPath(3), { viewer })];
  },
  '[F-21] [F-22] [F-23] an event stream': async (place) => {
    const viewer = await place.token('ada');
    const from = place.interval() - 2;
    const reading = place.readStream(from, 6, viewer);
    await place.publish('lights', { colour: 'red' });
    await place.advance(5);
    await place.advance(11 * 240);
    return [await reading, await place.readStream(from, 5, viewer)];
  },
  '[C-2] [C-3] [C-5] [C-9] [C-10] the chat': async (place) => {
    const viewer = await place.token('ada');
    const from = place.interval();
    const post = (body: unknown) => place.call('POST', CHATS(place), { viewer, body });
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
      await place.call('POST', CHATS(place), { viewer }),
    ];
    await place.publish('purchase', { text: 'a mug', name: 'Bob' });
    await place.publish('discount', { count: 3 });
    await place.advance(2);
    return [answers, await feed(place, viewer, from, 2)];
  },
  '[Q-4] [Q-7] … [Q-21] [F-29] [F-32] a quiz': async (place) => {
    const viewers = await Promise.all(['ada', 'bob', 'eve', 'kim'].map((who) => place.token(who)));
    const [ada = '', bob = '', eve = '', kim = ''] = viewers;
    const from = place.interval();
    const quiz = await place.openQuiz(QUIZ);
    const answer = (viewer: string, choice: unknown, fields = {}, id = quiz.id) =>
      place.call('POST', `/api/v1/quizzes/${id}/answer`, {
        viewer,
        body: {
          streamId: place.streamId,
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
    await place.advance(quiz.closeInterval - place.interval());
    answers.push(await answer(kim, '2'), await answer(ada, '2'), await answer(ada, '1'));
    await place.advance(2);
    answers.push(await answer(kim, '2'), await answer(bob, 'Mars'));
    return [quiz.closeInterval, answers, await feed(place, ada, from, 6)];
  },
  '[Q-18] [Q-19] [W-3] … [W-12] a quiz that is revealed later, and two games': async (place) => {
    const [ada, bob] = [await place.token('ada'), await place.token('bob')];
    const from = place.interval();
    const report = (viewer: string) => place.call('POST', WINNER(place), { viewer });
    const quiz = await place.openQuiz({ ...QUIZ, reveal: 'manual' });
    const body = { streamId: place.streamId, choice: '2', closeInterval: quiz.closeInterval };
    await place.call('POST', `/api/v1/quizzes/${quiz.id}/answer`, { viewer: ada, body });
    const refusals = [await place.requestWinners(), await place.reveal(quiz.id)];
    await place.advance(6);
    refusals.push(await place.requestWinners(), await place.reveal(quiz.id));
    refusals.push(await place.reveal(quiz.id));
    const reports = [await report(ada), (await report('x')).status];
    refusals.push(await place.requestWinners(), await place.requestWinners());
    reports.push(await report(ada), await report(ada), await report(bob));
    await place.advance(4);
    reports.push(await report(ada));
    await place.advance(1);
    reports.push(await report(ada));
    refusals.push(await place.requestWinners());
    reports.push(await report(bob));
    await place.advance(6);
    return [refusals, reports, await feed(place, ada, from, 17)];
  },
  '[S-16] a stream that has ended': async (place) => {
    const viewer = await place.token('ada');
    await place.end();
    const stream = await place.call('GET', `/api/v1/streams/${place.streamId}`, {});
    return [stream.body.status, await place.call('POST', COUNT(place), { viewer })];
  },
};

test.each(Object.keys(SHOWS))('the mock does as the service: %s', async (title) => {
  const show = SHOWS[title] as (place: SuiteTarget) => Promise<unknown>;
  // Both begin at the same moment, so that all times are the same.
  const mock = createMockTarget(harness.clock.nowMs());
  const real = await createServiceTarget(harness);
  const expected = await show(real);
  expect(plain(await show(mock))).toEqual(plain(expected));
});

/** Ids are not the same in two places. */
function plain(value: unknown): unknown {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return JSON.parse(JSON.stringify(value).replace(uuid, 'uuid'), (key, member) =>
    key === 'viewer' || key === 'id' ? typeof member : member,
  );
}

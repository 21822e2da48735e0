import { describe, expect, test } from 'bun:test';
import { StudioClient } from './studio-client.ts';
import { StudioProblem } from './studio-problem.ts';

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client whose requests a test answers, in a time that passes with its waits alone. */
function fixture(...answers: (() => Response)[]) {
  const sent: Sent[] = [];
  let nowMs = 0;
  let keys = 0;
  const client = new StudioClient({
    fetch: async (url, init) => {
      sent.push({ url, init });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (!answer) throw new TypeError('no line');
      return answer();
    },
    newKey: () => `key ${keys++}`,
    wait: async (ms) => {
      nowMs += ms;
    },
    monotonicMs: () => nowMs,
    random: () => 0.5,
  });
  const header = (name: string) => sent.map(({ init }) => new Headers(init.headers).get(name));
  return { client, sent, header, nowMs: () => nowMs };
}

const json = (status: number, body: unknown) => () => Response.json(body, { status });
const broken = () => {
  throw new TypeError('no line');
};
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error as StudioProblem,
  );

describe('a call', () => {
  test('has its place in the path, its query and its body', async () => {
    const { client, sent } = fixture(json(200, { results: [] }));
    await client.call('listQuizzes', { params: { stream_id: 'a/b' } });
    expect(sent[0]?.url).toBe('/studio/v1/streams/a%2Fb/quizzes');
    expect(sent[0]?.init.method).toBe('GET');
  });

  test('that fails says what the service says', async () => {
    const { client } = fixture(json(409, { detail: 'The stream has ended.' }));
    const problem = await failureOf(client.call('startStream', { params: { stream_id: 'a' } }));
    expect(problem).toBeInstanceOf(StudioProblem);
    expect(problem?.status).toBe(409);
    expect(problem?.message).toBe('The stream has ended.');
  });

  test('is not sent again when it is a read: whoever reads asks again', async () => {
    const { client, sent } = fixture(broken);
    expect((await failureOf(client.call('listOwnStreams')))?.status).toBeNull();
    expect(sent).toHaveLength(1);
  });
});

describe('a write', () => {
  test('is sent again under the same key until its outcome is known', async () => {
    const { client, header } = fixture(broken, json(503, {}), json(201, { id: 'new' }));
    const reply = await client.call('createStream', { body: { title: 'Quiz night' } });
    expect(reply.id).toBe('new');
    expect(header('Idempotency-Key')).toEqual(['key 0', 'key 0', 'key 0']);
  });

  test('is given up after a while, and says that it is not known', async () => {
    const { client, nowMs } = fixture(broken);
    const problem = await failureOf(client.call('createStream', { body: { title: 'Quiz night' } }));
    expect(problem?.isPassing).toBe(true);
    expect(nowMs()).toBe(15_000);
  });

  test('is not sent again when the service said no', async () => {
    const { client, sent } = fixture(json(400, { detail: 'title: must not be empty' }));
    await failureOf(client.call('createStream', { body: { title: '' } }));
    expect(sent).toHaveLength(1);
  });

  test('shows that it comes from this page (SPEC U)', async () => {
    const { client, header } = fixture(() => new Response(null, { status: 204 }));
    client.csrf = 'word';
    await client.call('signOut');
    expect(header('X-CSRF-Token')).toEqual(['word']);
  });
});

describe('401', () => {
  test('of somebody whose session has ended is told', async () => {
    const { client } = fixture(json(401, { detail: 'Nobody is signed in.' }));
    client.csrf = 'word';
    let told = 0;
    client.onSignedOut = () => told++;
    await failureOf(client.call('listOwnStreams'));
    expect(told).toBe(1);
  });

  test('of somebody who was not signed in is no news', async () => {
    const { client } = fixture(json(401, { detail: 'Nobody is signed in.' }));
    let told = 0;
    client.onSignedOut = () => told++;
    await failureOf(client.call('readSession'));
    expect(told).toBe(0);
  });

  test('for what a role may not do ends no session', async () => {
    const { client } = fixture(json(401, { detail: 'Your role is host.' }), json(200, {}));
    client.csrf = 'word';
    let told = 0;
    client.onSignedOut = () => told++;
    await failureOf(client.call('listApiTokens'));
    expect(told).toBe(0);
  });
});

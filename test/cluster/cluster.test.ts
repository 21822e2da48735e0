import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { QuizResults } from '../../protocol/quizzes.ts';
import {
  answerOf,
  bodyOf,
  callsTo,
  countOf,
  heartbeat,
  type NodeCalls,
  nextEvent,
} from '../support/cluster/calls.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { expectJson, QUIZ, type TestViewer } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

// Three nodes with Redis and PostgreSQL, as an operator runs them.

const START_TIMEOUT_MS = 60_000;
const NODES = [0, 1, 2] as const;

let cluster: Cluster;
let account: { uuid: string; token: string };
let calls: NodeCalls;
beforeAll(async () => {
  cluster = await startCluster({ nodes: NODES.length });
  account = await cluster.createAccount('producer@example.org');
  calls = callsTo(cluster, account.token);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await cluster.stop();
  await killServers();
});

/** The viewer on each node, with the same token. */
function onAll(viewer: TestViewer): TestViewer[] {
  return NODES.map((node) => calls.onNode(viewer, node));
}

describe('the nodes of a cluster', () => {
  test('[N-3] [T-10] [T-13] a viewer token of one node opens its own stream, and no other, on all nodes', async () => {
    const stream = await calls.createStream(0);
    const other = await calls.createStream(1);
    for (const node of NODES) {
      for (const viewer of onAll(await calls.viewer(node, stream))) {
        await heartbeat(viewer);
        const otherStream = await viewer.post(`/api/v1/view-counts/${other}`);
        expect(otherStream.status).toBe(401);
      }
    }
  });

  test('[N-3] [T-8] an identifier gets one seat from all nodes, also from concurrent requests', async () => {
    const stream = await calls.createStream(0);
    const viewers = Array.from({ length: 30 }, (_, number) => {
      return calls.viewer(number % NODES.length, stream, `person ${number % 5}`);
    });
    const claims = (await Promise.all(viewers)).map(({ token }) => claimsOf(token));
    expect(new Set(claims.map(({ seat }) => seat)).size).toBe(5);
    expect(new Set(claims.map(({ sub, seat }) => `${sub} ${seat}`)).size).toBe(5);
  });

  test('[N-3] [A-8] a service token works on all nodes, and on none within 1 s after its revocation', async () => {
    const created = await expectJson<{ id: string; token: string }>(
      await calls.studio(0, 'POST', '/api-tokens', { name: 'second' }),
      201,
    );
    const headers = { Authorization: `Token ${created.token}` };
    const statuses = () => {
      return Promise.all(
        NODES.map(
          async (node) => (await fetch(`${calls.url(node)}/api/v1/users/me`, { headers })).status,
        ),
      );
    };
    expect(await statuses()).toEqual([200, 200, 200]);
    expect((await calls.studio(1, 'DELETE', `/api-tokens/${created.id}`)).status).toBe(204);
    await Bun.sleep(1_000);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  test('[N-3] a stream and each change of it is visible on all nodes at once', async () => {
    const stream = await calls.createStream(0);
    const statusOn = async (node: number) => {
      const response = await fetch(`${calls.url(node)}/api/v1/streams/${stream}`);
      return (await expectJson<{ status: string }>(response, 200)).status;
    };
    expect(await Promise.all(NODES.map(statusOn))).toEqual(['CREATED', 'CREATED', 'CREATED']);
    expect((await calls.studio(1, 'POST', `/streams/${stream}/start`)).status).toBe(200);
    expect(await Promise.all(NODES.map(statusOn))).toEqual(['STREAMING', 'STREAMING', 'STREAMING']);
    expect((await calls.studio(2, 'POST', `/streams/${stream}/end`)).status).toBe(200);
    expect(await Promise.all(NODES.map(statusOn))).toEqual(['ENDED', 'ENDED', 'ENDED']);
  });

  test('[N-3] [R-11] concurrent writes with one idempotency key to all nodes take effect once', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const create = async (node: number) => {
      const response = await calls.studio(node, 'POST', '/streams', { title: 'Once' }, headers);
      return (await expectJson<{ id: string }>(response, 201)).id;
    };
    const ids = await Promise.all([...NODES, ...NODES].map(create));
    expect(new Set(ids).size).toBe(1);
    const other = await calls.studio(1, 'POST', '/streams', { title: 'Another' }, headers);
    expect(other.status).toBe(409);
  });
});

describe('a quiz', () => {
  test('[N-18] [I-3] [I-4] a quiz that is published on one node is answered on all, closed once and counted once', async () => {
    const stream = await calls.createStream(0);
    const viewers = await Promise.all(
      Array.from({ length: 30 }, (_, number) => calls.viewer(number % 3, stream)),
    );
    const from = await calls.interval(0);
    const [watcher] = viewers as [TestViewer];
    const quiz = await calls.publish(1, await calls.draft(0, stream, { duration: 1_500 }));
    for (const node of NODES) {
      const question = await nextEvent<{ id: string }>(calls.onNode(watcher, node), from, 'quiz');
      expect(question.data.id).toBe(quiz.id);
    }
    // Each viewer answers on all nodes at once; the first ten send a different choice to each.
    const statuses = await Promise.all(
      viewers.map((viewer, number) => {
        const choice = (node: number) => {
          return number < 10
            ? (QUIZ.choices[node] as string)
            : (QUIZ.choices[number % 3] as string);
        };
        return Promise.all(
          onAll(viewer).map((target, node) => answerOf(target, quiz, choice(node))),
        );
      }),
    );
    for (const [number, ofViewer] of statuses.entries()) {
      const expected = number < 10 ? [204, 409, 409] : [204, 204, 204];
      expect(ofViewer.toSorted()).toEqual(expected);
    }
    const accepted = QUIZ.choices.map((_, choice) => {
      const first = statuses.slice(0, 10).filter((ofViewer) => ofViewer[choice] === 204).length;
      return first + statuses.filter((__, number) => number >= 10 && number % 3 === choice).length;
    });
    for (const node of NODES) {
      const viewer = calls.onNode(watcher, node);
      const results = await nextEvent<QuizResults>(viewer, from, 'quiz-results');
      expect(results.interval).toBeGreaterThanOrEqual(quiz.closeInterval);
      expect(QUIZ.choices.map((choice) => results.data.choices[choice]?.count)).toEqual(accepted);
      expect(await answerOf(viewer, quiz)).toBeOneOf([204, 409]);
    }
    const lateViewer = await calls.viewer(2, stream);
    expect(await answerOf(lateViewer, quiz)).toBe(409);
    expect(await eventsOf(watcher, from, 'quiz-results')).toHaveLength(1);
  });

  test('[N-18] [W-5] [W-6] [W-10] winners who report on all nodes are counted once', async () => {
    const stream = await calls.createStream(2);
    const viewers = await Promise.all(
      Array.from({ length: 9 }, (_, number) => calls.viewer(number % 3, stream)),
    );
    const [watcher] = viewers as [TestViewer];
    const from = await calls.interval(0);
    const quiz = await calls.publish(0, await calls.draft(1, stream));
    const winners = viewers.slice(0, 6);
    await Promise.all(
      viewers.map((viewer, number) => {
        const choice = number < 6 ? QUIZ.answer : (QUIZ.choices[0] as string);
        return answerOf(calls.onNode(viewer, (number + 1) % 3), quiz, choice);
      }),
    );
    await nextEvent(watcher, from, 'quiz-results');
    expect((await calls.studio(1, 'POST', `/streams/${stream}/request-winners`)).status).toBe(201);
    const claim = async (viewer: TestViewer) => {
      return (await viewer.post(`/api/v1/quizzes/${stream}/record-winner`)).status;
    };
    const statuses = await Promise.all(winners.flatMap(onAll).map(claim));
    expect(statuses.every((status) => status === 204)).toBe(true);
    const otherStatuses = await Promise.all(viewers.slice(6).flatMap(onAll).map(claim));
    expect(otherStatuses.every((status) => status === 401)).toBe(true);
    for (const node of NODES) {
      const viewer = calls.onNode(watcher, node);
      expect(await nextEvent(viewer, from, 'quiz-winners')).toMatchObject({ data: { count: 6 } });
    }
    expect(await eventsOf(watcher, from, 'quiz-winners')).toHaveLength(1);
    expect(await eventsOf(watcher, from, 'request-quiz-winners')).toHaveLength(1);
  });
});

describe('the feed', () => {
  test('[N-4] [F-22] long polls and event streams of all nodes return the same bytes', async () => {
    const stream = await calls.createStream(0);
    const viewers = onAll(await calls.viewer(1, stream));
    const from = (await calls.interval(0)) + 1;
    const load = { isOver: false };
    const posted = sendLoad(stream, load);
    const intervals = Array.from({ length: 16 }, (_, index) => from + index);
    const polled = viewers.map(async (viewer) => {
      const bodies: string[] = [];
      for (const interval of intervals) bodies.push(await bodyOf(viewer, interval));
      return bodies;
    });
    const streamed = viewers.map((viewer) => streamOf(viewer, from, intervals.length));
    const [first, ...others] = await Promise.all([...polled, ...streamed]);
    load.isOver = true;
    const posts = await posted;
    for (const other of others) expect(other).toEqual(first as string[]);
    const types = (first ?? []).flatMap((body) => JSON.parse(body).events as { type: string }[]);
    for (const type of ['view-count', 'chats', 'tick']) {
      expect(types.filter((event) => event.type === type).length).toBeGreaterThan(0);
    }
    // C-11: each post is in exactly one interval; the last ones may be in later intervals.
    const read = (first ?? []).join('');
    const readOnce = posts.filter((text) => read.split(`"text":"${text}"`).length - 1 === 1);
    expect(readOnce.length).toBeGreaterThan(posts.length / 2);
    expect(posts.every((text) => read.split(`"text":"${text}"`).length <= 2)).toBe(true);
  });

  test('[N-4] [I-2] events that are recorded concurrently on all nodes are in one interval each', async () => {
    const stream = await calls.createStream(0);
    const viewer = await calls.viewer(0, stream);
    const from = await calls.interval(0);
    const post = async (number: number) => {
      const event = { type: 'tick', data: { number } };
      return (await calls.studio(number % 3, 'POST', `/streams/${stream}/events`, event)).status;
    };
    const numbers = Array.from({ length: 60 }, (_, number) => number);
    // Events of a stream are committed one after the other, each within 0.8 s.
    for (let first = 0; first < numbers.length; first += 15) {
      const some = numbers.slice(first, first + 15);
      expect(new Set(await Promise.all(some.map(post)))).toEqual(new Set([201]));
    }
    const events = (await eventsOf(viewer, from, 'tick')) as { number: number }[];
    expect(events.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(numbers);
  });

  test('[N-13] [O-11] a stopped node hands its chat messages over, and the other nodes continue', async () => {
    const stream = await calls.createStream(0);
    const viewer = await calls.viewer(0, stream);
    const chatViewer = calls.onNode(viewer, 2);
    const from = await calls.interval(0);
    const texts = Array.from({ length: 10 }, (_, number) => `last words ${number}`);
    const posted = texts.map((text) => {
      return chatViewer.post(`/api/v1/events-streams/${stream}/chats`, { kind: 'message', text });
    });
    expect((await Promise.all(posted)).every(({ status }) => status === 204)).toBe(true);
    await cluster.nodes[2]?.stop();
    const read = JSON.stringify(await eventsOf(viewer, from, 'chats'));
    for (const text of texts) expect(read.split(text).length - 1).toBe(1);
    const quiz = await calls.publish(1, await calls.draft(0, stream));
    expect(await answerOf(viewer, quiz)).toBe(204);
    await nextEvent(calls.onNode(viewer, 1), from, 'quiz-results');
    await cluster.nodes[2]?.start();
    await nextEvent(chatViewer, from, 'quiz-results');
  });
});

describe('the count', () => {
  test('[N-5] [V-5] a viewer with heartbeats on several nodes counts once', async () => {
    const stream = await calls.createStream(0);
    const viewers = await Promise.all(
      Array.from({ length: 7 }, (_, number) => calls.viewer(number % 3, stream)),
    );
    const from = await calls.interval(0);
    const heartbeats = { isOver: false };
    const senders = viewers.flatMap(onAll).map(async (viewer) => {
      while (!heartbeats.isOver) {
        await heartbeat(viewer);
        await Bun.sleep(400);
      }
    });
    await Bun.sleep(1_500);
    for (const viewer of onAll(viewers[0] as TestViewer)) expect(await countOf(viewer)).toBe(7);
    heartbeats.isOver = true;
    await Promise.all(senders);
    const published = (await eventsOf(viewers[0] as TestViewer, from, 'view-count')) as {
      value: number;
    }[];
    expect(Math.max(...published.map(({ value }) => value))).toBe(7);
  });

  test(
    '[N-5] [V-6] a count includes a new viewer at once on its node, and within 1 s on the others',
    async () => {
      const stream = await calls.createStream(0);
      for (let round = 0; round < 4; round++) {
        const viewer = await calls.viewer(round % 3, stream);
        const registered = calls.onNode(viewer, (round + 1) % 3);
        const heartbeats = { isOver: false };
        await heartbeat(registered);
        expect(await countOf(registered)).toBeGreaterThanOrEqual(1);
        const sentMs = performance.now();
        const sender = (async () => {
          while (!heartbeats.isOver) {
            await Bun.sleep(200);
            await heartbeat(registered);
          }
        })();
        const others = NODES.map((node) => calls.onNode(viewer, node));
        while ((await Promise.all(others.map(countOf))).some((value) => value < 1)) {
          expect(performance.now() - sentMs).toBeLessThan(1_000);
        }
        heartbeats.isOver = true;
        await sender;
        // Wait until no viewer is counted.
        while ((await countOf(registered)) > 0) await Bun.sleep(50);
      }
    },
    START_TIMEOUT_MS,
  );

  test('[N-6] viewers who move to another node between two heartbeats are counted throughout', async () => {
    const stream = await calls.createStream(0);
    const viewers = await Promise.all(
      Array.from({ length: 20 }, (_, number) => calls.viewer(number % 3, stream)),
    );
    const movement = { isOver: false };
    const senders = viewers.map(async (viewer, number) => {
      await Bun.sleep(number * 40);
      for (let node = number; !movement.isOver; node++) {
        await heartbeat(calls.onNode(viewer, node % 3));
        await Bun.sleep(900);
      }
    });
    await Bun.sleep(2_200);
    const from = await calls.interval(0);
    const watcher = viewers[0] as TestViewer;
    const counts: number[] = [];
    for (let read = 0; read < 30; read++) {
      counts.push(...(await Promise.all(onAll(watcher).map(countOf))));
      await Bun.sleep(100);
    }
    const to = await calls.interval(0);
    movement.isOver = true;
    await Promise.all(senders);
    expect(counts.filter((value) => value !== 20)).toEqual([]);
    const published: number[] = [];
    for (let interval = from; interval < to; interval++) {
      for (const { type, data } of JSON.parse(await bodyOf(watcher, interval)).events) {
        if (type === 'view-count') published.push(data.value);
      }
    }
    expect(published.length).toBeGreaterThanOrEqual(2);
    expect(published.filter((value) => value !== 20)).toEqual([]);
  });
});

/** Sends heartbeats, chat and producer events to all nodes. @returns the acknowledged messages */
async function sendLoad(stream: string, load: { isOver: boolean }): Promise<string[]> {
  const posts: string[] = [];
  const viewer = await calls.viewer(0, stream);
  for (let round = 0; !load.isOver; round++) {
    const target = calls.onNode(viewer, round % 3);
    const text = `words ${round}.`;
    const event = { type: 'tick', data: { round } };
    const [chat] = await Promise.all([
      target.post(`/api/v1/events-streams/${stream}/chats`, { kind: 'message', text }),
      calls.studio(round % 3, 'POST', `/streams/${stream}/events`, event),
      heartbeat(target),
    ]);
    if (chat.status === 204) posts.push(text);
    await Bun.sleep(60);
  }
  return posts;
}

/** Reads this many bodies from an event stream. */
async function streamOf(viewer: TestViewer, from: number, count: number): Promise<string[]> {
  const path = `/api/v1/events-streams/${viewer.streamId}?interval=${from}`;
  const response = await viewer.get(path, { Accept: 'text/event-stream' });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const bodies = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, body]) => body as string);
    if (bodies.length >= count) return bodies.slice(0, count);
  }
  throw new Error(`the event stream ended: ${text}`);
}

/** The data of all events of a type up to the current interval. */
async function eventsOf(viewer: TestViewer, from: number, type: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const to = await calls.interval(0);
  for (let interval = from; interval <= to; interval++) {
    const { events } = JSON.parse(await bodyOf(viewer, interval));
    for (const event of events) if (event.type === type) found.push(event.data);
  }
  return found;
}

function claimsOf(token: string): { sub: string; seat: number } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

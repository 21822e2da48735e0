import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { QuizResults } from '../../protocol/quizzes.ts';
import { answerOf, callsTo, countOf, heartbeat, nextEvent } from '../support/cluster/calls.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { QUIZ } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

// One service whose parts run on nodes of their own, so that each scales apart.

const ROLES = ['view-counts', 'polls', 'events', 'api,auth,studio'];
const [COUNTS, POLLS, EVENTS, REST] = [0, 1, 2, 3] as const;

let cluster: Cluster;
beforeAll(async () => {
  const args = (node: number) => ['--roles', ROLES[node] as string];
  cluster = await startCluster({ nodes: ROLES.length, args });
}, 60_000);
afterAll(async () => {
  await cluster.stop();
  await killServers();
});

test('[N-1] [N-18] [O-2] view counts, polls and events on nodes of their own are one service', async () => {
  const calls = callsTo(cluster, (await cluster.createAccount('ann@example.org')).token);
  const stream = await calls.createStream(REST);
  const people = ['Ann', 'Bob', 'Cyd'].map((name) => calls.viewer(REST, stream, name));
  const viewers = await Promise.all(people);
  const [reader] = viewers.map((viewer) => calls.moved(viewer, EVENTS));
  if (!reader) throw new Error('nobody is there');
  const from = await calls.interval(EVENTS);

  const beat = () => Promise.all(viewers.map((viewer) => heartbeat(calls.moved(viewer, COUNTS))));
  await beat();
  expect(await countOf(calls.moved(reader, COUNTS))).toBe(3);
  const beating = setInterval(() => void beat(), 500);
  try {
    const count = await nextEvent(reader, from, 'view-count');
    expect(count.data).toEqual({ value: 3, formatted: '3' });
    const path = `/api/v1/events-streams/${stream}/chats`;
    const posted = await reader.post(path, { kind: 'message', text: 'Hello' });
    expect(posted.status).toBe(204);
    const chats = await nextEvent<{ messages: { text: string }[] }>(reader, from, 'chats');
    expect(chats.data.messages.map(({ text }) => text)).toEqual(['Hello']);
  } finally {
    clearInterval(beating);
  }

  const quiz = await calls.publish(REST, await calls.draft(REST, stream));
  expect((await nextEvent<{ id: string }>(reader, from, 'quiz')).data.id).toBe(quiz.id);
  const answers = viewers.map((viewer) => answerOf(calls.moved(viewer, POLLS), quiz));
  expect(await Promise.all(answers)).toEqual([204, 204, 204]);
  const results = await nextEvent<QuizResults>(reader, from, 'quiz-results');
  expect(results.data.choices[QUIZ.answer]).toEqual({ count: 3, percentage: 100 });
  expect((await calls.studio(REST, 'POST', `/streams/${stream}/request-winners`)).status).toBe(201);
  const claim = `/api/v1/quizzes/${stream}/record-winner`;
  expect((await calls.moved(reader, POLLS).post(claim)).status).toBe(204);
  const winners = await nextEvent(reader, from, 'quiz-winners');
  expect(winners.data).toEqual({ count: 1 });
});

test('[O-2] a node has no routes of other roles, and its own operator routes', async () => {
  const calls = callsTo(cluster, '');
  const routes = ['/api/v1/view-counts/x', '/api/v1/quizzes/x/answer', '/api/v1/events-streams/x'];
  const found = (node: number) => {
    return Promise.all(
      routes.map(async (path) => (await fetch(calls.url(node) + path)).status !== 404),
    );
  };
  expect(await Promise.all([COUNTS, POLLS, EVENTS, REST].map(found))).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
    [false, false, false],
  ]);
  for (const node of cluster.nodes) expect(await node.statusOf('/readyz')).toBe(200);
});

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { QuizResults } from '../../protocol/quizzes.ts';
import { answerOf, callsTo, countOf, heartbeat, nextEvent } from '../support/cluster/calls.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { QUIZ } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

// One service whose roles run on separate nodes.

const ROLES = ['view-counts', 'polls', 'events', 'api,auth,studio'];
const [COUNTS, POLLS, EVENTS, REST] = [0, 1, 2, 3] as const;

let cluster: Cluster;
beforeAll(async () => {
  const argsOf = (node: number) => ['--roles', ROLES[node] as string];
  cluster = await startCluster({ nodes: ROLES.length, argsOf });
}, 60_000);
afterAll(async () => {
  await cluster.stop();
  await killServers();
});

test('[N-1] [N-18] [O-2] nodes with separate roles form one service', async () => {
  const calls = callsTo(cluster, (await cluster.createAccount('ann@example.org')).token);
  const stream = await calls.createStream(REST);
  const viewers = await Promise.all(
    ['Ann', 'Bob', 'Cyd'].map((name) => calls.viewer(REST, stream, name)),
  );
  const [reader] = viewers.map((viewer) => calls.onNode(viewer, EVENTS));
  if (!reader) throw new Error('no viewer');
  const from = await calls.interval(EVENTS);

  const sendHeartbeats = () =>
    Promise.all(viewers.map((viewer) => heartbeat(calls.onNode(viewer, COUNTS))));
  await sendHeartbeats();
  expect(await countOf(calls.onNode(reader, COUNTS))).toBe(3);
  const timer = setInterval(() => void sendHeartbeats(), 500);
  try {
    // A count of an earlier interval may have some of them only.
    const count = await nextEvent(reader, await calls.interval(EVENTS), 'view-count');
    expect(count.data).toEqual({ value: 3, formatted: '3' });
    const path = `/api/v1/events-streams/${stream}/chats`;
    const posted = await reader.post(path, { kind: 'message', text: 'Hello' });
    expect(posted.status).toBe(204);
    const chats = await nextEvent<{ messages: { text: string }[] }>(reader, from, 'chats');
    expect(chats.data.messages.map(({ text }) => text)).toEqual(['Hello']);
  } finally {
    clearInterval(timer);
  }

  const quiz = await calls.publish(REST, await calls.draft(REST, stream));
  expect((await nextEvent<{ id: string }>(reader, from, 'quiz')).data.id).toBe(quiz.id);
  const answers = viewers.map((viewer) => answerOf(calls.onNode(viewer, POLLS), quiz));
  expect(await Promise.all(answers)).toEqual([204, 204, 204]);
  const results = await nextEvent<QuizResults>(reader, from, 'quiz-results');
  expect(results.data.choices[QUIZ.answer]).toEqual({ count: 3, percentage: 100 });
  expect((await calls.studio(REST, 'POST', `/streams/${stream}/request-winners`)).status).toBe(201);
  const claim = `/api/v1/quizzes/${stream}/record-winner`;
  expect((await calls.onNode(reader, POLLS).post(claim)).status).toBe(204);
  const winners = await nextEvent(reader, from, 'quiz-winners');
  expect(winners.data).toEqual({ count: 1 });
});

test('[O-2] a node serves the routes of its roles and the operator routes, and no others', async () => {
  const calls = callsTo(cluster, '');
  const routes = ['/api/v1/view-counts/x', '/api/v1/quizzes/x/answer', '/api/v1/events-streams/x'];
  const areServed = (node: number) => {
    return Promise.all(
      routes.map(async (path) => (await fetch(calls.url(node) + path)).status !== 404),
    );
  };
  expect(await Promise.all([COUNTS, POLLS, EVENTS, REST].map(areServed))).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
    [false, false, false],
  ]);
  for (const node of cluster.nodes) expect(await node.statusOf('/readyz')).toBe(200);
});

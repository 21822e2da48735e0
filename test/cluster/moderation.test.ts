import { afterAll, beforeAll, expect, test } from 'bun:test';
import { postChat, sendHearts, viewerIdOf } from '../support/chat/moderated-chat.ts';
import { callsTo, countOf, heartbeat, type NodeCalls } from '../support/cluster/calls.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { expectJson, type TestViewer } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

// Two nodes with Redis and PostgreSQL: a moderation decision on one node applies on the other.

const START_TIMEOUT_MS = 60_000;
const [HERE, THERE] = [0, 1] as const;
const LIMIT_MS = 1_000;
const POLL_MS = 10;

let cluster: Cluster;
let calls: NodeCalls;
beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  calls = callsTo(cluster, (await cluster.createAccount('producer@example.org')).token);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await cluster.stop();
  await killServers();
});

const heartbeatStatus = async (viewer: TestViewer) =>
  (await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).status;

/** Runs an action and expects the condition to hold within a second after it. */
async function expectSoon(act: () => Promise<unknown>, holds: () => Promise<boolean>) {
  await act();
  const fromMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - fromMs > LIMIT_MS) throw new Error(`no effect within ${LIMIT_MS} ms`);
    await Bun.sleep(POLL_MS);
  }
}

async function callStudio(method: string, path: string, body?: object): Promise<void> {
  const response = await calls.studio(HERE, method, path, body);
  expect([path, response.ok]).toEqual([path, true]);
}

test('[C-19] [C-21] a ban and its end apply on the other node within 1 s', async () => {
  const stream = await calls.createStream(HERE);
  const staying = await calls.viewer(HERE, stream);
  for (let round = 0; round < 4; round++) {
    const banned = await calls.viewer(THERE, stream, `viewer ${round}`);
    const path = `/streams/${stream}/banned/${viewerIdOf(banned)}`;
    for (const node of [HERE, THERE]) await heartbeat(calls.onNode(banned, node));
    const eventStream = await banned.get(
      `/api/v1/events-streams/${stream}?interval=${await calls.interval(THERE)}`,
      { Accept: 'text/event-stream' },
    );
    const ended = new EventReader(eventStream).ended(2 * LIMIT_MS);
    await expectSoon(
      () => callStudio('POST', path),
      async () => (await heartbeatStatus(banned)) === 401,
    );
    expect(await heartbeatStatus(calls.onNode(banned, HERE))).toBe(401);
    expect(await ended).toBe(true);
    const newToken = calls.viewer(THERE, stream, `viewer ${round}`).catch((error) => String(error));
    expect(await newToken).toContain('got 401');
    const unban = () => callStudio('DELETE', path);
    await expectSoon(unban, async () => (await heartbeatStatus(banned)) === 204);
    await heartbeat(staying);
  }
});

test('[C-19] [C-21] [I-5] a viewer who is banned on one node is counted on no node', async () => {
  const stream = await calls.createStream(HERE);
  const staying = await calls.viewer(HERE, stream);
  const banned = await calls.viewer(THERE, stream);
  const heartbeats = { isOver: false };
  const senders = [staying, banned].map(async (viewer) => {
    while (!heartbeats.isOver) {
      await heartbeatStatus(viewer);
      await Bun.sleep(200);
    }
  });
  const counts = () =>
    Promise.all([HERE, THERE].map((node) => countOf(calls.onNode(staying, node))));
  while ((await counts()).some((count) => count !== 2)) await Bun.sleep(POLL_MS);
  // The other node learns of the ban within a second, and its count changes an interval later.
  await expectSoon(
    async () => {
      await callStudio('POST', `/streams/${stream}/banned/${viewerIdOf(banned)}`);
      await Bun.sleep(250);
    },
    async () => (await counts()).every((count) => count === 1),
  );
  for (let read = 0; read < 20; read++) {
    expect(await counts()).toEqual([1, 1]);
    await Bun.sleep(50);
  }
  heartbeats.isOver = true;
  await Promise.all(senders);
});

test('[C-13] [C-14] [C-18] [C-21] a pause of the chat and a mute apply on the other node within 1 s', async () => {
  const stream = await calls.createStream(HERE);
  const viewer = await calls.viewer(THERE, stream);
  const chat = `/streams/${stream}/chat`;
  const status = async () => (await sendHearts(viewer)).status;
  for (const [act, expected] of [
    [() => callStudio('PATCH', chat, { paused: true }), 409],
    [() => callStudio('PATCH', chat, { paused: false }), 204],
    [() => callStudio('POST', `${chat}/muted/${viewerIdOf(viewer)}`, { minutes: 5 }), 409],
    [() => callStudio('DELETE', `${chat}/muted/${viewerIdOf(viewer)}`), 204],
  ] as const) {
    await expectSoon(act, async () => (await status()) === expected);
  }
});

test('[C-15] [C-21] slow mode accepts one message of a viewer over all nodes', async () => {
  const stream = await calls.createStream(HERE);
  const viewer = await calls.viewer(THERE, stream);
  await callStudio('PATCH', `/streams/${stream}/chat`, { slowModeMs: 60_000 });
  await Bun.sleep(LIMIT_MS);
  const writers = [HERE, THERE, HERE, THERE].map((node) => calls.onNode(viewer, node));
  const statuses = await Promise.all(writers.map(async (on) => (await postChat(on)).status));
  expect(statuses.toSorted()).toEqual([204, 429, 429, 429]);
  const other = await calls.viewer(HERE, stream);
  expect((await postChat(other)).status).toBe(204);
  expect(await expectJson<object>(await postChat(calls.onNode(other, THERE)), 429)).toHaveProperty(
    'status',
    429,
  );
});

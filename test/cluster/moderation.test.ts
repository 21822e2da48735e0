import { afterAll, beforeAll, expect, test } from 'bun:test';
import { viewerIdOf, postChat, sendHearts } from '../support/chat/moderated-chat.ts';
import { callsTo, countOf, heartbeat, type NodeCalls } from '../support/cluster/calls.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { expectJson, type TestViewer } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

// Two nodes on a Redis and a PostgreSQL of their own: what is decided on one holds on the other.

const START_MS = 60_000;
const [HERE, THERE] = [0, 1] as const;
const WITHIN_MS = 1_000;
const LOOK_MS = 10;

let cluster: Cluster;
let calls: NodeCalls;
beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  calls = callsTo(cluster, (await cluster.createAccount('producer@example.org')).token);
}, START_MS);
afterAll(async () => {
  await cluster.stop();
  await killServers();
});

const beat = async (viewer: TestViewer) =>
  (await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).status;

/** Does something on one node, and sees it to be so within a second. */
async function expectSoon(work: () => Promise<unknown>, isSo: () => Promise<boolean>) {
  await work();
  const fromMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - fromMs > WITHIN_MS) throw new Error('it took too long');
    await Bun.sleep(LOOK_MS);
  }
}

async function done(method: string, path: string, body?: object): Promise<void> {
  const response = await calls.studio(HERE, method, path, body);
  expect([path, response.ok]).toEqual([path, true]);
}

test('[C-19] [C-21] a ban holds within 1 s on the other node, and so does its end', async () => {
  const stream = await calls.createStream(HERE);
  const stays = await calls.viewer(HERE, stream);
  for (let round = 0; round < 4; round++) {
    const banned = await calls.viewer(THERE, stream, `viewer ${round}`);
    const path = `/streams/${stream}/banned/${viewerIdOf(banned)}`;
    for (const node of [HERE, THERE]) await heartbeat(calls.moved(banned, node));
    const follows = await banned.get(
      `/api/v1/events-streams/${stream}?interval=${await calls.interval(THERE)}`,
      { Accept: 'text/event-stream' },
    );
    const ended = new EventReader(follows).ended(2 * WITHIN_MS);
    await expectSoon(
      () => done('POST', path),
      async () => (await beat(banned)) === 401,
    );
    expect(await beat(calls.moved(banned, HERE))).toBe(401);
    expect(await ended).toBe(true);
    const again = calls.viewer(THERE, stream, `viewer ${round}`).catch((error) => String(error));
    expect(await again).toContain('got 401');
    const back = () => done('DELETE', path);
    await expectSoon(back, async () => (await beat(banned)) === 204);
    await heartbeat(stays);
  }
});

test('[C-19] [C-21] [I-5] who was banned on one node is not counted on either', async () => {
  const stream = await calls.createStream(HERE);
  const stays = await calls.viewer(HERE, stream);
  const banned = await calls.viewer(THERE, stream);
  const beating = { over: false };
  const goOn = [stays, banned].map(async (viewer) => {
    while (!beating.over) {
      await beat(viewer);
      await Bun.sleep(200);
    }
  });
  const counts = () => Promise.all([HERE, THERE].map((node) => countOf(calls.moved(stays, node))));
  while ((await counts()).some((count) => count !== 2)) await Bun.sleep(LOOK_MS);
  // The second in which the other node learns of it, and the interval after that.
  await expectSoon(
    async () => {
      await done('POST', `/streams/${stream}/banned/${viewerIdOf(banned)}`);
      await Bun.sleep(250);
    },
    async () => (await counts()).every((count) => count === 1),
  );
  for (let look = 0; look < 20; look++) {
    expect(await counts()).toEqual([1, 1]);
    await Bun.sleep(50);
  }
  beating.over = true;
  await Promise.all(goOn);
});

test('[C-13] [C-14] [C-18] [C-21] a pause, and who is muted, holds within 1 s on the other node', async () => {
  const stream = await calls.createStream(HERE);
  const viewer = await calls.viewer(THERE, stream);
  const chat = `/streams/${stream}/chat`;
  const status = async () => (await sendHearts(viewer)).status;
  for (const [work, refused] of [
    [() => done('PATCH', chat, { paused: true }), 409],
    [() => done('PATCH', chat, { paused: false }), 204],
    [() => done('POST', `${chat}/muted/${viewerIdOf(viewer)}`, { minutes: 5 }), 409],
    [() => done('DELETE', `${chat}/muted/${viewerIdOf(viewer)}`), 204],
  ] as const) {
    await expectSoon(work, async () => (await status()) === refused);
  }
});

test('[C-15] [C-21] a viewer has one turn in a slowed chat, whichever node they write to', async () => {
  const stream = await calls.createStream(HERE);
  const viewer = await calls.viewer(THERE, stream);
  await done('PATCH', `/streams/${stream}/chat`, { slowModeMs: 60_000 });
  await Bun.sleep(WITHIN_MS);
  const writers = [HERE, THERE, HERE, THERE].map((node) => calls.moved(viewer, node));
  const told = await Promise.all(writers.map(async (on) => (await postChat(on)).status));
  expect(told.toSorted()).toEqual([204, 429, 429, 429]);
  const other = await calls.viewer(HERE, stream);
  expect((await postChat(other)).status).toBe(204);
  expect(await expectJson<object>(await postChat(calls.moved(other, THERE)), 429)).toHaveProperty(
    'status',
    429,
  );
});

import { expect, test } from 'bun:test';
import { ARCHIVE_MS } from '../../protocol/limits.ts';
import {
  expectMembers,
  expectNoContent,
  expectProblem,
} from '../support/conformance/expectations.ts';
import { eventsFrom } from '../support/conformance/feed-viewer.ts';
import { expectJson, startService, type TestViewer } from '../support/harness/harness.ts';

const heartbeat = (viewer: TestViewer) => viewer.post(`/api/v1/view-counts/${viewer.streamId}`);
const post = (viewer: TestViewer, body: unknown) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, body);
const message = { kind: 'message', text: 'Is anybody here?' };

test('[S-21] a day after its end a stream counts no viewers and takes no posts, but can be read', async () => {
  await using harness = await startService();
  const streamId = await harness.createStream();
  await harness.advance(1);
  await harness.studio('POST', `/streams/${streamId}/start`);
  await expectJson(await harness.studio('POST', `/streams/${streamId}/end`), 200);

  const readCount = async (viewer: TestViewer) => {
    const response = await viewer.get(`/api/v1/view-counts/${streamId}`);
    return (await expectJson<{ value: number }>(response, 200)).value;
  };
  const readChat = async (viewer: TestViewer) => {
    const response = await viewer.get(`/api/v1/streams/${streamId}/`);
    return (await expectJson<{ chat: { paused: boolean } }>(response, 200)).chat;
  };
  /** What a second of use by the viewer leaves in the feed. */
  const useForASecond = async (viewer: TestViewer) => {
    const from = harness.interval();
    for (let step = 0; step < 4; step += 1) {
      await expectNoContent(await heartbeat(viewer));
      await harness.events(viewer, harness.interval() - 1);
      await harness.advance(1);
    }
    return (await eventsFrom(harness, viewer, from)).map(({ type }) => type);
  };

  harness.pass(ARCHIVE_MS - 10_000);
  await harness.advance(1);
  const viewer = await harness.viewer(streamId);
  await harness.service.upkeep();
  await expectNoContent(await post(viewer, message));
  expect((await useForASecond(viewer)).toSorted()).toEqual(['chats', 'view-count']);
  expect([await readCount(viewer), (await readChat(viewer)).paused]).toEqual([1, false]);

  harness.pass(10_000);
  await harness.advance(1);
  await expectNoContent(await heartbeat(viewer));
  await harness.service.upkeep();
  await harness.advance(12);
  expect(await useForASecond(viewer)).toEqual([]);
  expect([await readCount(viewer), (await readChat(viewer)).paused]).toEqual([0, true]);
  for (const body of [message, { kind: 'heart' }]) {
    const problem = await expectProblem(await post(viewer, body), 409);
    expectMembers(problem, ['type', 'title', 'status', 'detail', 'paused']);
  }
});

test('[C-21] [S-21] the bans and mutes of a stream last until every node knows that it is archived', async () => {
  await using harness = await startService();
  const streamId = await harness.createStream();
  const path = `/streams/${streamId}/chat`;
  await expectJson(await harness.studio('PATCH', path, { paused: true }), 200);
  await expectJson(await harness.studio('POST', `/streams/${streamId}/end`), 200);
  const moderated = async (afterMs: number) => {
    const nowMs = harness.clock.nowMs() + afterMs;
    const { chats } = await harness.store.changedChats({ after: 0, nowMs });
    return chats.map((chat) => chat.streamId);
  };
  expect(await moderated(ARCHIVE_MS + 60_000)).toEqual([streamId]);
  expect(await moderated(ARCHIVE_MS + 300_000)).toEqual([]);
});

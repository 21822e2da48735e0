import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { LIVE_PAST_INTERVALS, type LiveState, liveStateSchema } from '../../protocol/live.ts';
import { createConfig } from '../../server/platform/config.ts';
import { EventReader, isStateMessage, type Message } from '../support/conformance/event-source.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, QUIZ, startService } from '../support/harness/harness.ts';
import { newMember } from '../support/studio/user-agent.ts';

const service = await serviceOfFile();
await service.advance(1);

const watch = (streamId: string, query = '', headers: Record<string, string> = {}) =>
  service.studio('GET', `/streams/${streamId}/live${query}`, undefined, { headers });

async function open(streamId: string, query = '', headers = {}): Promise<EventReader> {
  const response = await watch(streamId, query, headers);
  expect(response.status).toBe(200);
  return new EventReader(response);
}

/** Waits for the next message of a type. */
async function next(reader: EventReader, wanted: 'state' | 'interval'): Promise<Message> {
  for (;;) {
    const message = await reader.next(3_000);
    if (!message) throw new Error(`no ${wanted} arrived within 3 s`);
    if (isStateMessage(message) === (wanted === 'state')) return message;
  }
}

const stateWith = (reader: EventReader, meets: (state: LiveState) => boolean) =>
  reader.nextState(meets);

describe('the live state of a show', () => {
  test('[B-1] the live state is sent at once and each half second, with exactly its fields', async () => {
    const reader = await open(await service.createStream());
    const first = JSON.parse((await next(reader, 'state')).data);
    expect(liveStateSchema.strict().parse(first)).toMatchObject({ quiz: null, round: null });
    expect(first.stream.status).toBe('CREATED');
    const startMs = performance.now();
    await next(reader, 'state');
    await next(reader, 'state');
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await reader.close();
  });

  test('[B-2] the live stream has each interval, byte for byte', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    const reader = await open(streamId);
    await service.studio('POST', `/streams/${streamId}/events`, { type: 'lights', data: null });
    await service.advance(2);
    const message = await next(reader, 'interval');
    const interval = Number(message.id);
    const feed = await viewer.get(`/api/v1/events-streams/${streamId}?interval=${interval}`);
    expect(message.data).toBe(await feed.text());
    expect(Number((await next(reader, 'interval')).id)).toBe(interval + 1);
    await reader.close();
  });

  test('[B-2] the live stream resumes after the last interval, and starts at the requested one', async () => {
    const streamId = await service.createStream();
    await service.advance(4);
    const sealedTo = service.interval() - 1;
    const last = { 'Last-Event-ID': String(sealedTo - 3) };
    const resumed = await open(streamId, '', last);
    expect(Number((await next(resumed, 'interval')).id)).toBe(sealedTo - 2);
    const requested = await open(streamId, `?interval=${sealedTo - 1}`);
    expect(Number((await next(requested, 'interval')).id)).toBe(sealedTo - 1);
    await Promise.all([resumed.close(), requested.close()]);
  });

  test('[B-2] the live stream starts at most ten minutes back, and rejects an invalid interval', async () => {
    const streamId = await service.createStream();
    await service.studio('POST', `/streams/${streamId}/events`, { type: 'first', data: null });
    await service.advance(1);
    const reader = await open(streamId, '?interval=0');
    const { id } = await next(reader, 'interval');
    expect(Number(id)).toBeGreaterThanOrEqual(service.interval() - LIVE_PAST_INTERVALS);
    await reader.close();
    for (const query of ['?interval=-1', '?interval=1e3', '?interval=', '?interval=x']) {
      expect((await watch(streamId, query)).status).toBe(400);
    }
  });

  test('[B-3] the live state has the answers of an open quiz, which viewers do not get', async () => {
    const streamId = await service.createStream();
    const viewers = await Promise.all([1, 2, 3].map(() => service.viewer(streamId)));
    const reader = await open(streamId);
    const quiz = await service.publishQuiz(streamId);
    await stateWith(reader, ({ tally }) => tally !== null);
    const [first, second] = QUIZ.choices;
    for (const [at, viewer] of viewers.entries()) {
      const choice = (at === 0 ? first : second) ?? '';
      expect((await answer(viewer, quiz, choice)).status).toBe(204);
    }
    const counted = await stateWith(reader, ({ tally }) => tally?.[second ?? '']?.count === 2);
    expect(counted.tally?.[first ?? '']).toEqual({ count: 1, percentage: 33 });
    expect(counted.quiz?.counts).toBeNull();
    await service.advance(2);
    const body = await viewers[0]?.get(
      `/api/v1/events-streams/${streamId}?interval=${service.interval() - 1}`,
    );
    expect(await body?.text()).not.toContain('"count":2');
    await service.advance(quiz.closeInterval - service.interval() + 1);
    const closed = await stateWith(reader, ({ quiz: now }) => now?.state !== 'open');
    expect(closed.tally).toBeNull();
    expect(closed.quiz?.counts?.[second ?? '']?.count).toBe(2);
    await reader.close();
  });

  test('[B-1] the live stream gets 404 for a show of another account and for an unknown one', async () => {
    const other = await service.createAccount();
    const streamId = await service.createStream();
    const path = `/streams/${streamId}/live`;
    const asOther = await service.studio('GET', path, undefined, { token: other.token });
    expect(asOther.status).toBe(404);
    expect((await watch(randomUUID())).status).toBe(404);
  });

  test.each(['host', 'moderator'] as const)(
    '[B-1] [B-5] the live stream is available to a %s and ends with the session',
    async (role) => {
      const streamId = await service.createStream();
      const { browser } = await newMember(service, role);
      const response = await browser.send('GET', `/streams/${streamId}/live`);
      expect(response.status).toBe(200);
      const reader = new EventReader(response);
      await next(reader, 'state');
      await browser.send('DELETE', '/session');
      expect(await reader.ended(2_500)).toBe(true);
    },
  );

  test('[B-5] the live stream ends when the role of its member changes, and opens again', async () => {
    const path = `/streams/${await service.createStream()}/live`;
    const { browser, uuid } = await newMember(service, 'moderator');
    const reader = new EventReader(await browser.send('GET', path));
    await next(reader, 'state');
    await expectJson(await service.studio('PATCH', `/members/${uuid}`, { role: 'host' }), 200);
    expect(await reader.ended(2_500)).toBe(true);
    const again = new EventReader(await browser.send('GET', path));
    await next(again, 'state');
    await again.close();
  });

  test('[B-5] the live stream ends when its token is revoked', async () => {
    const streamId = await service.createStream();
    const made = await service.studio('POST', '/api-tokens', { name: 'spare' });
    const { id, token } = await expectJson<{ id: string; token: string }>(made, 201);
    const path = `/streams/${streamId}/live`;
    const reader = new EventReader(await service.studio('GET', path, undefined, { token }));
    await next(reader, 'state');
    await service.studio('DELETE', `/api-tokens/${id}`);
    expect(await reader.ended(2_500)).toBe(true);
  });
});

test('[B-5] [B-12] [L-5] a presenter stream ends with its key, also at an address over its limit of failed authentications', async () => {
  const rates = { ...createConfig().rates, failedAuth: { points: 2, durationS: 60 } };
  await using strict = await startService({ config: { rates } });
  const streamId = await strict.createStream();
  const keyPath = `/streams/${streamId}/presenter-key`;
  const made = await strict.studio('POST', keyPath);
  const { key } = await expectJson<{ key: string }>(made, 201);
  const present = () =>
    fetch(`${strict.url}/studio/v1/streams/${streamId}/present`, {
      headers: { Authorization: `Presenter ${key}` },
    });
  const reader = new EventReader(await present());
  await next(reader, 'state');
  for (let failures = 0; failures < 3; failures++) {
    await strict.studio('GET', '/streams', undefined, { token: `fb_${'a'.repeat(40)}` });
  }
  await strict.studio('DELETE', keyPath);
  expect((await present()).status).toBe(429);
  expect(await reader.ended(2_500)).toBe(true);
});

test('[B-5] a drain ends live streams and rejects new ones', async () => {
  await using draining = await startService();
  const streamId = await draining.createStream();
  const path = `/streams/${streamId}/live`;
  const reader = new EventReader(await draining.studio('GET', path));
  await next(reader, 'state');
  await draining.service.drain();
  expect(await reader.ended(2_000)).toBe(true);
  expect((await draining.studio('GET', path)).status).toBe(503);
});

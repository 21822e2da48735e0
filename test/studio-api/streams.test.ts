import { describe, expect, test } from 'bun:test';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { REOPEN_MS } from '../../protocol/limits.ts';
import { NO_SHOW_PAGE } from '../../protocol/show-page-values.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson } from '../support/harness/harness.ts';

const service = await serviceOfFile();

const SHOW_PAGE = {
  description: 'x'.repeat(500),
  poster_url: 'https://cdn.example/poster.jpg',
  logo_url: 'https://cdn.example/logo.svg',
  color: '#2F6fed',
  startsAt: 1_900_000_000_000,
};

const streamOf = async (response: Response, status = 200): Promise<StudioStream> =>
  expectJson<StudioStream>(response, status);
const read = async (id: string) => streamOf(await service.studio('GET', `/streams/${id}`));
const send = async (id: string, action: string, body?: object) =>
  service.studio('POST', `/streams/${id}/${action}`, body);
const detailOf = async (response: Response) =>
  (await expectJson<{ detail: string }>(response, 400)).detail;

describe('a new stream', () => {
  test('[P-7] [P-9] [S-3] [S-4] a new stream needs only a title', async () => {
    const response = await service.studio('POST', '/streams', { title: 'Quiz night' });
    const stream = await streamOf(response, 201);
    expect(stream).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      producer: service.account.uuid,
      title: 'Quiz night',
      dash_url: `${service.url}/media/${stream.id}/manifest.mpd`,
      hls_url: `${service.url}/media/${stream.id}/master.m3u8`,
      unlisted: false,
      latencyAllowance: 0,
      recording: false,
      autoStart: false,
      keepOpen: false,
      ...NO_SHOW_PAGE,
      status: 'CREATED',
      created: service.clock.nowMs(),
      started: null,
      ended: null,
      endsAt: null,
      rehearsalOf: null,
    });
  });

  test('[P-7] [P-8] a new stream has all fields that are sent', async () => {
    const fields = {
      title: 'x'.repeat(200),
      dash_url: 'https://cdn.example/a.mpd',
      hls_url: `http://cdn.example/${'a'.repeat(2_029)}`,
      unlisted: true,
      latencyAllowance: 60_000,
      recording: true,
      autoStart: true,
      keepOpen: true,
      ...SHOW_PAGE,
    };
    expect(fields.hls_url).toHaveLength(2_048);
    const created = await streamOf(await service.studio('POST', '/streams', fields), 201);
    expect(created).toMatchObject(fields);
    expect(await read(created.id)).toEqual(created);
  });

  test.each([
    [{}, 'title'],
    [{ title: '' }, 'title'],
    [{ title: 'x'.repeat(201) }, 'title'],
    [{ title: null }, 'title'],
    [{ title: 'a', dash_url: 'rtmp://cdn.example/a' }, 'dash_url'],
    [{ title: 'a', dash_url: '/relative.mpd' }, 'dash_url'],
    [{ title: 'a', hls_url: `http://cdn.example/${'a'.repeat(2_030)}` }, 'hls_url'],
    [{ title: 'a', unlisted: 'yes' }, 'unlisted'],
    [{ title: 'a', latencyAllowance: -1 }, 'latencyAllowance'],
    [{ title: 'a', latencyAllowance: 60_001 }, 'latencyAllowance'],
    [{ title: 'a', latencyAllowance: 1.5 }, 'latencyAllowance'],
    [{ title: 'a', recording: 'yes' }, 'recording'],
    [{ title: 'a', description: 'x'.repeat(501) }, 'description'],
    [{ title: 'a', description: '' }, 'description'],
    [{ title: 'a', poster_url: 'javascript:alert(1)' }, 'poster_url'],
    [{ title: 'a', logo_url: '/logo.svg' }, 'logo_url'],
    [{ title: 'a', color: 'red' }, 'color'],
    [{ title: 'a', color: '#2f6fed;' }, 'color'],
    [{ title: 'a', startsAt: -1 }, 'startsAt'],
    [{ title: 'a', startsAt: Date.UTC(10_000, 0) }, 'startsAt'],
  ])('[P-8] [G-21] a new stream with %j gets 400, which names %s', async (body, member) => {
    const response = await service.studio('POST', '/streams', body);
    expect(await detailOf(response)).toContain(member);
  });

  test('[P-3] an unknown field gets 400, which names it', async () => {
    for (const [path, body] of [
      ['/streams', { title: 'a', colour: 'red' }],
      ['/api-tokens', { name: 'a', colour: 'red' }],
    ] as const) {
      expect(await detailOf(await service.studio('POST', path, body))).toContain('colour');
    }
    const id = await service.createStream();
    for (const [method, path, body] of [
      ['PATCH', '', { title: 'a', colour: 'red' }],
      ['POST', '/end', { colour: 'red' }],
      ['POST', '/events', { type: 'purchase', data: { text: 'a', colour: 'red' } }],
      ['POST', '/events', { type: 'discount', data: { colour: 'red' } }],
      ['POST', '/events', { type: 'lights', data: null, colour: 'red' }],
    ] as const) {
      const response = await service.studio(method, `/streams/${id}${path}`, body);
      expect(await detailOf(response)).toContain('colour');
    }
  });
});

describe('the streams of an account', () => {
  test('[P-4] [P-10] the streams of an account are all listed, newest first, unlisted ones included', async () => {
    const { token } = await service.createAccount();
    const created: StudioStream[] = [];
    for (let n = 0; n < 25; n++) {
      service.pass(1);
      const body = { title: `Show ${n}`, unlisted: n % 2 === 0 };
      const response = await service.studio('POST', '/streams', body, { token });
      created.unshift(await streamOf(response, 201));
    }
    const response = await service.studio('GET', '/streams', undefined, { token });
    const list = await expectJson<{ results: StudioStream[] }>(response, 200);
    expect(list).toEqual({ results: created });
  });

  test('[P-10] streams are read by id, also in upper case', async () => {
    const id = await service.createStream({ title: 'Mine' });
    expect((await read(id.toUpperCase())).id).toBe(id);
    expect((await service.studio('GET', `/streams/${id}/`)).status).toBe(200);
  });
});

describe('changing a stream', () => {
  test('[P-11] a patch changes the sent fields only', async () => {
    const id = await service.createStream({ title: 'Old', dash_url: 'http://a.example/x.mpd' });
    const before = await read(id);
    const response = await service.studio('PATCH', `/streams/${id}`, { title: 'New' });
    expect(await streamOf(response)).toEqual({ ...before, title: 'New' });
    const urls = { hls_url: 'http://a.example/x.m3u8' };
    const second = { unlisted: true, latencyAllowance: 500, recording: true, ...urls };
    await service.studio('PATCH', `/streams/${id}`, second);
    expect(await read(id)).toEqual({ ...before, title: 'New', ...second });
  });

  test('[P-11] [S-18] a patch of the page changes the sent fields, and null removes them', async () => {
    const id = await service.createStream({ ...SHOW_PAGE });
    const patch = { description: 'New', logo_url: null };
    const response = await service.studio('PATCH', `/streams/${id}`, patch);
    expect(await streamOf(response)).toMatchObject({ ...SHOW_PAGE, ...patch });
    const none = await service.studio('PATCH', `/streams/${id}`, NO_SHOW_PAGE);
    expect(await streamOf(none)).toMatchObject(NO_SHOW_PAGE);
  });

  test('[P-11] [S-3] a patch with a null URL resets it to that of this service', async () => {
    const id = await service.createStream({ dash_url: 'http://a.example/x.mpd' });
    const response = await service.studio('PATCH', `/streams/${id}`, { dash_url: null });
    expect((await streamOf(response)).dash_url).toBe(`${service.url}/media/${id}/manifest.mpd`);
  });

  test.each([{}, { title: null }, { unlisted: null }, { title: '' }, { status: 'ENDED' }])(
    '[P-11] the patch %j gets 400 and changes nothing',
    async (body) => {
      const id = await service.createStream();
      const before = await read(id);
      expect((await service.studio('PATCH', `/streams/${id}`, body)).status).toBe(400);
      expect(await read(id)).toEqual(before);
    },
  );

  test('[P-11] [Q-4] a new latencyAllowance applies to quizzes published later', async () => {
    const id = await service.createStream({ latencyAllowance: 0 });
    const first = await service.publishQuiz(id, { duration: 1_000 });
    await service.studio('PATCH', `/streams/${id}`, { latencyAllowance: 1_000 });
    const second = await service.publishQuiz(id, { duration: 1_000 });
    expect(second.closeInterval - first.closeInterval).toBe(4);
    const reread = await service.studio('GET', `/quizzes/${first.id}`);
    expect(await expectJson<object>(reread, 200)).toMatchObject({
      closeInterval: first.closeInterval,
    });
  });
});

describe('the life cycle of a stream', () => {
  test('[P-12] start makes a stream STREAMING; a repeat changes nothing', async () => {
    const id = await service.createStream();
    const startedMs = service.clock.nowMs();
    const started = await streamOf(await send(id, 'start'));
    expect(started).toMatchObject({ status: 'STREAMING', started: startedMs, ended: null });
    service.pass(5);
    expect(await streamOf(await send(id, 'start'))).toEqual(started);
  });

  test('[P-13] end makes a stream ENDED; a repeat changes nothing, and start gets 409', async () => {
    const id = await service.createStream();
    await send(id, 'start');
    service.pass(5);
    const endedMs = service.clock.nowMs();
    const ended = await streamOf(await send(id, 'end'));
    expect(ended).toMatchObject({ status: 'ENDED', ended: endedMs, endsAt: null });
    service.pass(5);
    expect(await streamOf(await send(id, 'end'))).toEqual(ended);
    expect(await streamOf(await send(id, 'end', { at: service.clock.nowMs() + 9 }))).toEqual(ended);
    expect((await send(id, 'start')).status).toBe(409);
    expect(await read(id)).toEqual(ended);
  });

  test('[P-13] end works from CREATED, without a body or with an empty one', async () => {
    for (const body of [undefined, {}]) {
      const id = await service.createStream();
      const ended = await streamOf(await send(id, 'end', body));
      expect(ended).toMatchObject({ status: 'ENDED', started: null });
      expect(ended.ended).toBe(service.clock.nowMs());
    }
  });

  test('[O-23] listed shows are those that are live and not unlisted, the one started last first', async () => {
    const live = async () => {
      service.pass(2_000);
      return (await service.service.startPage.readLiveShows()).map(({ id }) => id);
    };
    const first = await service.createStream();
    const unlisted = await service.createStream({ unlisted: true });
    const second = await service.createStream();
    await service.createStream();
    for (const id of [first, unlisted, second]) {
      await send(id, 'start');
      service.pass(1_000);
    }
    expect((await live()).slice(0, 2)).toEqual([second, first]);
    expect(await live()).not.toContain(unlisted);
    await send(second, 'end');
    expect((await live())[0]).toBe(first);
    for (let n = 0; n < 20; n++) await send(await service.createStream(), 'start');
    expect(await live()).toHaveLength(20);
  });

  test('[S-19] reopen takes back the end within 10 minutes; a repeat changes nothing', async () => {
    const id = await service.createStream();
    const started = await streamOf(await send(id, 'start'));
    service.pass(5);
    await send(id, 'end');
    service.pass(REOPEN_MS - 1);
    expect(await streamOf(await send(id, 'reopen'))).toEqual(started);
    expect(await streamOf(await send(id, 'reopen'))).toEqual(started);
    expect(await read(id)).toEqual(started);
    expect((await streamOf(await send(id, 'end'))).ended).toBe(service.clock.nowMs());
    service.pass(REOPEN_MS);
    expect((await send(id, 'reopen')).status).toBe(409);
  });

  test('[S-19] [H-6] a stream can end twice within a millisecond, with a webhook', async () => {
    const webhook = { url: 'https://hooks.example.org/', events: ['stream.ended'] };
    await expectJson(await service.studio('POST', '/webhooks', webhook), 201);
    const id = await service.createStream();
    for (const action of ['start', 'end', 'reopen', 'end']) {
      expect((await send(id, action)).status).toBe(200);
    }
  });

  test('[S-19] a stream that ended without a start is CREATED after reopen', async () => {
    const id = await service.createStream();
    await send(id, 'end');
    const reopened = await streamOf(await send(id, 'reopen'));
    expect(reopened).toMatchObject({ status: 'CREATED', started: null, ended: null });
  });

  test('[P-14] `at` sets endsAt; the stream ends when that interval is sealed', async () => {
    const id = await service.createStream();
    await send(id, 'start');
    await service.advance(1);
    const at = intervalStartMs(service.interval() + 3) + 100;
    expect(await streamOf(await send(id, 'end', { at }))).toMatchObject({
      status: 'STREAMING',
      ended: null,
      endsAt: at,
    });
    await service.advance(3);
    expect(intervalAt(at)).toBe(service.interval());
    expect((await read(id)).status).toBe('STREAMING');
    await service.advance(1);
    expect(await read(id)).toMatchObject({ status: 'ENDED', endsAt: null });
    expect((await read(id)).ended).toBeGreaterThanOrEqual(at);
  });

  test('[P-14] a later end call replaces `at`; a past `at` ends the stream now', async () => {
    const id = await service.createStream();
    const at = service.clock.nowMs() + 60_000;
    await send(id, 'end', { at });
    expect((await streamOf(await send(id, 'end', { at: at + 1 }))).endsAt).toBe(at + 1);
    const past = await streamOf(await send(id, 'end', { at: service.clock.nowMs() - 1 }));
    expect(past).toMatchObject({ status: 'ENDED', endsAt: null });
  });

  test('[P-14] [G-29] an invalid `at` of an end call gets 400', async () => {
    const id = await service.createStream();
    for (const at of ['soon', -1, 1.5, null, 2 ** 53, Date.UTC(10_000, 0)]) {
      expect(await detailOf(await send(id, 'end', { at }))).toContain('at');
    }
    expect((await read(id)).status).toBe('CREATED');
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import type { Stream, StreamPage } from '../../protocol/streams.ts';
import { expectJson, type Harness, startService } from '../harness.ts';
import {
  expectMembers,
  expectNoContent,
  expectProblem,
  expectUnauthorized,
} from './expectations.ts';
import { PLENTY_OF_ALL } from './operations.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let harness: Harness;
beforeAll(async () => {
  harness = await startService({ config: { rates: PLENTY_OF_ALL } });
});
afterAll(() => harness.close());

const get = (path: string, authorization?: string) =>
  fetch(harness.url + path, { headers: authorization ? { Authorization: authorization } : {} });
const me = (authorization?: string) => get('/api/v1/users/me', authorization);
const detail = (id: string, authorization?: string) => get(`/api/v1/streams/${id}/`, authorization);
const list = (query: string, authorization?: string) =>
  get(`/api/v1/streams/?${query}`, authorization);
const page = async (query: string, authorization?: string) =>
  expectJson<StreamPage>(await list(query, authorization), 200);
const statusOf = async (id: string) => (await expectJson<Stream>(await detail(id), 200)).status;

describe('the account', () => {
  test('[A-2] is 200 with uuid, email, name and created, for its service token', async () => {
    const email = 'host@example.org';
    const account = await harness.createAccount(email);
    const user = await expectJson<Record<string, unknown>>(await me(`Token ${account.token}`), 200);
    expect(user).toEqual({
      uuid: account.uuid,
      email,
      name: 'A producer',
      created: harness.clock.nowMs(),
    });
  });

  test('[A-1] the scheme word is matched in any case', async () => {
    for (const scheme of ['Token', 'token', 'TOKEN', 'tOKEN']) {
      expect((await me(`${scheme} ${harness.account.token}`)).status).toBe(200);
    }
  });

  test('[A-3] is 401 without a token, and with an unknown or malformed one', async () => {
    const { token } = harness.account;
    const wrong = [
      undefined,
      'Token',
      'Token ',
      token,
      `Bearer ${token}`,
      `Basic ${btoa(`x:${token}`)}`,
      `Token ${token}x`,
      `Token ${token.slice(0, -1)}`,
      `Token fb_${'a'.repeat(40)}`,
      `Token ${token} ${token}`,
      `Token "${token}"`,
      `Token ${token.toUpperCase()}`,
      `Token ${'x'.repeat(8_000)}`,
    ];
    for (const authorization of wrong) await expectUnauthorized(await me(authorization), 'Token');
  });

  test('[A-3] is 401 with a viewer token and with a revoked token', async () => {
    const viewer = await harness.viewer(await harness.createStream());
    await expectUnauthorized(await me(`Bearer ${viewer.token}`), 'Token');
    await expectUnauthorized(await me(`Token ${viewer.token}`), 'Token');
    const made = await harness.studio('POST', '/api-tokens', { name: 'lost' });
    const { id, token } = await expectJson<{ id: string; token: string }>(made, 201);
    expect((await me(`Token ${token}`)).status).toBe(200);
    await expectNoContent(await harness.studio('DELETE', `/api-tokens/${id}`));
    await expectUnauthorized(await me(`Token ${token}`), 'Token');
  });

  test('[A-4] its uuid is the producer of its streams, and stays', async () => {
    const account = await harness.createAccount();
    const stream = await harness.studio('POST', '/streams', { title: 'A' }, account);
    const { id } = await expectJson<{ id: string }>(stream, 201);
    const { uuid } = await expectJson<{ uuid: string }>(await me(`Token ${account.token}`), 200);
    const { results } = await page(`producer=${uuid}`);
    expect(results.map(({ id, producer }) => [id, producer])).toEqual([[id, uuid]]);
    await harness.advance(1);
    const again = await expectJson<{ uuid: string }>(await me(`Token ${account.token}`), 200);
    expect(again.uuid).toBe(uuid);
  });
});

describe('a stream', () => {
  test('[S-1] [S-5] has exactly id, producer, dash_url, hls_url and status', async () => {
    const id = await harness.createStream({ title: 'hidden', latencyAllowance: 5 });
    const stream = await expectJson<Stream>(await detail(id), 200);
    expectMembers(stream, ['id', 'producer', 'dash_url', 'hls_url', 'status']);
    expect(stream.id).toBe(id);
    expect(stream.id).toMatch(UUID);
    expect(stream.producer).toMatch(UUID);
    for (const url of [stream.dash_url, stream.hls_url]) expect(URL.canParse(url)).toBe(true);
  });

  test('[S-1] keeps the URLs that it was given', async () => {
    const urls = {
      dash_url: 'https://cdn.example/a.mpd',
      hls_url: 'http://cdn.example/a.m3u8?x=1',
    };
    const id = await harness.createStream(urls);
    expect(await expectJson<Stream>(await detail(id), 200)).toMatchObject(urls);
  });

  test('[S-2] has the uuid of its account as producer, whatever becomes of it', async () => {
    const id = await harness.createStream();
    for (const path of ['', '/start', '/end']) {
      if (path) await harness.studio('POST', `/streams/${id}${path}`);
      const { producer } = await expectJson<Stream>(await detail(id), 200);
      expect(producer).toBe(harness.account.uuid);
    }
    const wrong = await harness.studio('PATCH', `/streams/${id}`, { producer: id });
    expect(wrong.status).toBe(400);
  });

  test('[S-3] without URLs of its own plays from this origin', async () => {
    const id = await harness.createStream();
    expect(await expectJson<Stream>(await detail(id), 200)).toMatchObject({
      dash_url: `${harness.url}/media/${id}/manifest.mpd`,
      hls_url: `${harness.url}/media/${id}/master.m3u8`,
    });
  });

  test('[S-3] [S-10] a public URL that is configured is the origin of every link', async () => {
    const publicUrl = 'https://show.example.org';
    const other = await startService({ config: { publicUrl, rates: PLENTY_OF_ALL } });
    try {
      const id = await other.createStream();
      await other.createStream();
      const stream = await fetch(`${other.url}/api/v1/streams/${id}/`);
      expect((await expectJson<Stream>(stream, 200)).hls_url).toBe(
        `${publicUrl}/media/${id}/master.m3u8`,
      );
      const first = await fetch(
        `${other.url}/api/v1/streams/?producer=${other.account.uuid}&page_size=1`,
      );
      const { next } = await expectJson<StreamPage>(first, 200);
      expect(next).toStartWith(`${publicUrl}/api/v1/streams/?`);
    } finally {
      await other.close();
    }
  });

  test('[S-4] is CREATED, STREAMING, ENDED, and never goes back', async () => {
    const id = await harness.createStream();
    expect(await statusOf(id)).toBe('CREATED');
    await expectJson(await harness.studio('POST', `/streams/${id}/start`), 200);
    expect(await statusOf(id)).toBe('STREAMING');
    await expectJson(await harness.studio('POST', `/streams/${id}/end`), 200);
    expect(await statusOf(id)).toBe('ENDED');
    expect((await harness.studio('POST', `/streams/${id}/start`)).status).toBe(409);
    expect(await statusOf(id)).toBe('ENDED');
  });

  test('[S-5] is 404 when the id is unknown, and one whatever its case', async () => {
    await expectProblem(await detail(crypto.randomUUID()), 404);
    await expectProblem(await detail('1'), 404);
    const id = await harness.createStream();
    expect((await expectJson<Stream>(await detail(id.toUpperCase()), 200)).id).toBe(id);
  });

  test('[S-15] plays in three qualities: as the input, a half and a third', () => {
    expect(PLAYBACK_LADDER).toEqual([
      { name: 'High', divisor: 1, megabytesPerS: 2.4 },
      { name: 'Medium', divisor: 2, megabytesPerS: 1.2 },
      { name: 'Low', divisor: 3, megabytesPerS: 0.8 },
    ]);
    const megabits = PLAYBACK_LADDER.map(({ megabytesPerS }) => megabytesPerS * 8);
    for (const [index, wanted] of [19.2, 9.6, 6.4].entries()) {
      expect(megabits[index]).toBeCloseTo(wanted);
    }
  });

  test('[S-16] takes viewers, counts, feed reads and chat in every state', async () => {
    const id = await harness.createStream();
    for (const change of [null, '/start', '/end']) {
      if (change) await expectJson(await harness.studio('POST', `/streams/${id}${change}`), 200);
      const viewer = await harness.viewer(id);
      await expectNoContent(await viewer.post(`/api/v1/view-counts/${id}`));
      expect((await viewer.get(`/api/v1/view-counts/${id}`)).status).toBe(200);
      const hearts = { kind: 'heart', count: 2 };
      await expectNoContent(await viewer.post(`/api/v1/events-streams/${id}/chats`, hearts));
      await harness.advance(1);
      const events = await harness.events(viewer, harness.interval() - 1);
      expect(events.filter(({ type }) => type === 'chats')).toHaveLength(1);
    }
  });
});

describe('the list', () => {
  /** An account with streams of these titles, the newest last. */
  async function producerOf(count: number, fields: Record<string, unknown> = {}) {
    const account = await harness.createAccount();
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      await harness.advance(1);
      const made = await harness.studio('POST', '/streams', { title: `${i}`, ...fields }, account);
      ids.push((await expectJson<{ id: string }>(made, 201)).id);
    }
    return { ...account, ids };
  }

  test('[S-6] is 200 with exactly count, next, previous and results', async () => {
    const { uuid, ids } = await producerOf(1);
    const answer = await page(`producer=${uuid}`);
    expectMembers(answer, ['count', 'next', 'previous', 'results']);
    expect(answer).toMatchObject({ count: 1, next: null, previous: null });
    const stream = await expectJson<Stream>(await detail(ids[0] ?? ''), 200);
    expect(answer.results).toEqual([stream]);
  });

  test('[S-7] is 400 without producer or with one that is no uuid; 0 results for others', async () => {
    for (const query of ['', 'producer=', 'producer=1', 'Producer=1', 'producer=%00', 'page=1']) {
      expect((await expectProblem(await list(query), 400)).detail).toContain('producer');
    }
    const nobody = await page(`producer=${crypto.randomUUID()}`);
    expect(nobody).toEqual({ count: 0, next: null, previous: null, results: [] });
    const { uuid } = await producerOf(1);
    expect((await page(`producer=${uuid.toUpperCase()}`)).count).toBe(1);
  });

  test('[S-8] [S-10] counts all results; next and previous lead through every page', async () => {
    const { uuid, ids } = await producerOf(5);
    const seen: string[] = [];
    const urls: string[] = [];
    let url: string | null = `${harness.url}/api/v1/streams/?producer=${uuid}&page_size=2`;
    let previous: string | null = null;
    while (url) {
      urls.push(url);
      const answer: StreamPage = await expectJson(await fetch(url), 200);
      expect(answer.count).toBe(5);
      if (previous) {
        const back: StreamPage = await expectJson(await fetch(answer.previous ?? ''), 200);
        expect(back.next).toBe(url);
      } else expect(answer.previous).toBeNull();
      seen.push(...answer.results.map(({ id }) => id));
      previous = url;
      url = answer.next;
    }
    expect(urls).toHaveLength(3);
    expect(seen).toEqual(ids.toReversed());
    for (const link of urls.slice(1)) {
      expect(link).toStartWith(`${harness.url}/api/v1/streams/?`);
      const { searchParams } = new URL(link);
      expect(searchParams.get('producer')).toBe(uuid);
      expect(searchParams.get('page_size')).toBe('2');
    }
  });

  test('[S-9] page_size is 20 unless it is given, at most 100; page 1 always exists', async () => {
    const { uuid } = await producerOf(21);
    expect((await page(`producer=${uuid}`)).results).toHaveLength(20);
    expect((await page(`producer=${uuid}&page=2`)).results).toHaveLength(1);
    expect((await page(`producer=${uuid}&page_size=100`)).results).toHaveLength(21);
    expect((await page(`producer=${uuid}&page_size=1&page=21`)).results).toHaveLength(1);
    expect((await page(`producer=${crypto.randomUUID()}&page=1`)).results).toEqual([]);
    await expectProblem(await list(`producer=${uuid}&page=3`), 404);
    await expectProblem(await list(`producer=${uuid}&page=22&page_size=1`), 404);
    await expectProblem(await list(`producer=${crypto.randomUUID()}&page=2`), 404);
  });

  test.each(['0', '-1', '01', '+1', '1.0', '1e1', '', 'x', '9007199254740993', '%31%00', '１'])(
    '[S-9] page and page_size %p are 400',
    async (value) => {
      for (const name of ['page', 'page_size']) {
        const answer = await list(`producer=${harness.account.uuid}&${name}=${value}`);
        expect((await expectProblem(answer, 400)).detail).toContain(name);
      }
    },
  );

  test('[S-9] page_size 101 is 400', async () => {
    const answer = await list(`producer=${harness.account.uuid}&page_size=101`);
    expect((await expectProblem(answer, 400)).detail).toContain('page_size');
  });

  test('[S-11] [P-4] has the newest stream first, also of those made in one millisecond', async () => {
    const { uuid, token } = await producerOf(0);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) {
      const made = await harness.studio('POST', '/streams', { title: `${i}` }, { token });
      ids.unshift((await expectJson<{ id: string }>(made, 201)).id);
    }
    expect((await page(`producer=${uuid}`)).results.map(({ id }) => id)).toEqual(ids);
    const own = await harness.studio('GET', '/streams', undefined, { token });
    const { results } = await expectJson<{ results: { id: string }[] }>(own, 200);
    expect(results.map(({ id }) => id)).toEqual(ids);
  });

  test('[P-4] of API tokens has the newest first, also of those made in one millisecond', async () => {
    const { token } = await producerOf(0);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await harness.studio('POST', '/api-tokens', { name }, { token });
    const list = await harness.studio('GET', '/api-tokens', undefined, { token });
    const { results } = await expectJson<{ results: { name: string }[] }>(list, 200);
    expect(results.map(({ name }) => name)).toEqual([...names.toReversed(), 'test']);
  });

  test('[S-12] carries Cache-Control: public, no-cache; its errors are no-store', async () => {
    const good = await list(`producer=${harness.account.uuid}`);
    expect(good.headers.get('cache-control')).toBe('public, no-cache');
    for (const query of ['', `producer=${harness.account.uuid}&page=999`]) {
      expect((await list(query)).headers.get('cache-control')).toBe('no-store');
    }
  });

  test('[S-13] list and detail need no credential, but one that is sent must be valid', async () => {
    const { uuid, token, ids } = await producerOf(1);
    const id = ids[0] ?? '';
    const viewer = await harness.viewer(id);
    const stranger = await harness.viewer(await harness.createStream());
    for (const good of [undefined, `Token ${token}`, `Bearer ${viewer.token}`]) {
      expect((await detail(id, good)).status).toBe(200);
      expect((await list(`producer=${uuid}`, good)).status).toBe(200);
    }
    for (const wrong of ['Token fb_x', 'Bearer x.y.z', 'Basic x', 'nonsense', `${viewer.token}`]) {
      await expectUnauthorized(await detail(id, wrong), 'Token');
      await expectUnauthorized(await list(`producer=${uuid}`, wrong), 'Token');
    }
    await expectUnauthorized(await detail(id, `Bearer ${stranger.token}`), 'Token');
    await expectUnauthorized(await detail(crypto.randomUUID(), `Bearer ${viewer.token}`), 'Token');
  });

  test('[S-14] shows and counts unlisted streams to their owner alone', async () => {
    const owner = await producerOf(1, { unlisted: true });
    const made = await harness.studio('POST', '/streams', { title: 'open' }, owner);
    const { id: listed } = await expectJson<{ id: string }>(made, 201);
    const hidden = owner.ids[0] ?? '';
    const viewer = await harness.viewer(hidden);
    const query = `producer=${owner.uuid}`;
    const others = [undefined, `Token ${harness.account.token}`, `Bearer ${viewer.token}`];
    for (const authorization of others) {
      const { count, results } = await page(query, authorization);
      expect([count, results.map(({ id }) => id)]).toEqual([1, [listed]]);
    }
    expect((await page(query, `Token ${owner.token}`)).count).toBe(2);
    expect((await detail(hidden)).status).toBe(200);
  });
});

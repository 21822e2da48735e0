import { expect, test } from 'bun:test';
import type { Stream, StreamPage } from '../../protocol/streams.ts';
import {
  expectMembers,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson } from '../support/harness/harness.ts';

const harness = await serviceOfFile();

const get = (path: string, authorization?: string) =>
  fetch(harness.url + path, { headers: authorization ? { Authorization: authorization } : {} });
const detail = (id: string, authorization?: string) => get(`/api/v1/streams/${id}/`, authorization);
const list = (query: string, authorization?: string) =>
  get(`/api/v1/streams/?${query}`, authorization);
const page = async (query: string, authorization?: string) =>
  expectJson<StreamPage>(await list(query, authorization), 200);

/** Creates an account with `count` streams. @returns it with their ids, the newest last */
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

test('[S-6] the stream list has exactly count, next, previous and results', async () => {
  const { uuid, ids } = await producerOf(1);
  const answer = await page(`producer=${uuid}`);
  expectMembers(answer, ['count', 'next', 'previous', 'results']);
  expect(answer).toMatchObject({ count: 1, next: null, previous: null });
  const stream = await expectJson<Stream>(await detail(ids[0] ?? ''), 200);
  expect(answer.results).toEqual([stream]);
});

test('[S-7] the stream list returns 400 without a producer uuid and no results for an unknown one', async () => {
  for (const query of ['', 'producer=', 'producer=1', 'Producer=1', 'producer=%00', 'page=1']) {
    expect((await expectProblem(await list(query), 400)).detail).toContain('producer');
  }
  const unknown = await page(`producer=${crypto.randomUUID()}`);
  expect(unknown).toEqual({ count: 0, next: null, previous: null, results: [] });
  const { uuid } = await producerOf(1);
  expect((await page(`producer=${uuid.toUpperCase()}`)).count).toBe(1);
});

test('[S-8] [S-10] count is the number of all results, and next and previous link all pages', async () => {
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

test('[S-9] page_size is 20 by default and at most 100, and page 1 always exists', async () => {
  const { uuid } = await producerOf(21);
  expect((await page(`producer=${uuid}`)).results).toHaveLength(20);
  expect((await page(`producer=${uuid}&page=2`)).results).toHaveLength(1);
  expect((await page(`producer=${uuid}&page_size=100`)).results).toHaveLength(21);
  expect((await page(`producer=${uuid}&page_size=1&page=21`)).results).toHaveLength(1);
  expect((await page(`producer=${crypto.randomUUID()}&page=1`)).results).toEqual([]);
  for (const beyond of ['3', '1000000000', '9'.repeat(400)]) {
    await expectProblem(await list(`producer=${uuid}&page=${beyond}`), 404);
  }
  await expectProblem(await list(`producer=${uuid}&page=22&page_size=1`), 404);
  await expectProblem(await list(`producer=${crypto.randomUUID()}&page=2`), 404);
});

test.each(['0', '-1', '01', '+1', '1.0', '1e1', '', 'x', '%31%00', '１'])(
  '[S-9] page or page_size %p returns 400',
  async (value) => {
    for (const name of ['page', 'page_size']) {
      const answer = await list(`producer=${harness.account.uuid}&${name}=${value}`);
      expect((await expectProblem(answer, 400)).detail).toContain(name);
    }
  },
);

test.each(['101', '9007199254740993', '9'.repeat(400)])(
  '[S-9] page_size %p returns 400',
  async (size) => {
    const answer = await list(`producer=${harness.account.uuid}&page_size=${size}`);
    expect((await expectProblem(answer, 400)).detail).toBe('page_size: must be at most 100.');
  },
);

test('[S-11] [P-4] stream lists are newest first, also within one millisecond', async () => {
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

test('[P-4] the list of API tokens is newest first, also within one millisecond', async () => {
  const { token } = await producerOf(0);
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await harness.studio('POST', '/api-tokens', { name }, { token });
  const list = await harness.studio('GET', '/api-tokens', undefined, { token });
  const { results } = await expectJson<{ results: { name: string }[] }>(list, 200);
  expect(results.map(({ name }) => name)).toEqual([...names.toReversed(), 'test']);
});

test('[S-12] the stream list has Cache-Control: public, no-cache; its errors are no-store', async () => {
  const good = await list(`producer=${harness.account.uuid}`);
  expect(good.headers.get('cache-control')).toBe('public, no-cache');
  for (const query of ['', `producer=${harness.account.uuid}&page=999`]) {
    expect((await list(query)).headers.get('cache-control')).toBe('no-store');
  }
});

test('[S-13] stream list and detail need no credential, but one that is sent must be valid', async () => {
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

test('[S-14] unlisted streams are listed and counted only for their owner', async () => {
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

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { PRODUCTS_MAX } from '../../protocol/limits.ts';
import type { Product } from '../../protocol/products.ts';
import { expectNoContent, expectProblem } from '../support/conformance/expectations.ts';
import { PRODUCT } from '../support/conformance/operations.ts';
import {
  expectJson,
  type Harness,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

describe.each(['embedded', 'shared'] as const)('products on %s backends', (backends) => {
  let service: Harness;
  let streamId: string;
  let viewer: TestViewer;
  /** The first interval after the setup of a test. */
  let start: number;
  beforeAll(async () => {
    service = await startService({ backends });
  }, 30_000);
  afterAll(() => service.close());

  const begin = async () => {
    streamId = await service.createStream();
    viewer = await service.viewer(streamId);
    start = service.interval();
  };
  const request = (method: string, path: string, body?: unknown) =>
    service.studio(method, `/streams/${streamId}/products${path}`, body);
  const create = async (fields: object = {}): Promise<Product> =>
    expectJson(await request('POST', '', { ...PRODUCT, ...fields }), 201);
  const show = async ({ id }: Product): Promise<Product> =>
    expectJson(await request('POST', `/${id}/show`), 200);
  const hide = async ({ id }: Product): Promise<Product> =>
    expectJson(await request('POST', `/${id}/hide`), 200);
  const list = async () =>
    (await expectJson<{ results: Product[] }>(await request('GET', ''), 200)).results;
  const buy = (fields: object) =>
    service.studio('POST', `/streams/${streamId}/events`, {
      type: 'purchase',
      data: { name: 'Ada', text: 'bought a mug', ...fields },
    });
  /** The data of the `product` events of each sealed interval since the setup. */
  const published = async () => {
    await service.advance(1);
    const data: unknown[] = [];
    for (let interval = start; interval < service.interval(); interval++) {
      const events = await service.events(viewer, interval);
      data.push(...events.filter(({ type }) => type === 'product').map((event) => event.data));
    }
    return data;
  };
  const shownToLateViewer = async () => {
    const late = await service.viewer(streamId, randomUUID());
    const response = await late.get(`/api/v1/streams/${streamId}/`);
    return (await expectJson<{ product: unknown }>(response, 200)).product;
  };
  const shownAs = ({ shown: _, ...product }: Product) => product;

  test('[P-31] products are created, listed in order, changed and deleted', async () => {
    await begin();
    const mug = await create();
    const { picture_url: _, stock: __, ...few } = PRODUCT;
    const hat = await expectJson<Product>(await request('POST', '', { ...few, name: 'Hat' }), 201);
    expect(mug).toEqual({ ...PRODUCT, id: expect.any(String), shown: false });
    expect(hat).toMatchObject({ name: 'Hat', picture_url: null, stock: null });
    const changed = await request('PATCH', `/${mug.id}`, { price: 999, stock: null });
    expect(await expectJson<Product>(changed, 200)).toEqual({ ...mug, price: 999, stock: null });
    expect(await list()).toEqual([{ ...mug, price: 999, stock: null }, hat]);
    await expectNoContent(await request('DELETE', `/${mug.id}`));
    expect(await list()).toEqual([hat]);
    for (const [method, path, body] of [
      ['PATCH', '', { price: 1 }],
      ['DELETE', ''],
      ['POST', '/show'],
      ['POST', '/hide'],
    ] as const) {
      await expectProblem(await request(method, `/${mug.id}${path}`, body), 404);
    }
    expect(await published()).toEqual([]);
  });

  test('[P-31] viewers get an event when a product is shown, changed, replaced and hidden', async () => {
    await begin();
    const [mug, hat] = [await create(), await create({ name: 'Hat' })];
    expect(await show(mug)).toEqual({ ...mug, shown: true });
    await show(mug);
    await service.advance(1);
    await request('PATCH', `/${mug.id}`, { price: 999 });
    await request('PATCH', `/${hat.id}`, { price: 2_000 });
    await service.advance(1);
    await show(hat);
    expect((await list()).map(({ shown }) => shown)).toEqual([false, true]);
    await service.advance(1);
    await hide(mug);
    await hide(hat);
    expect(await published()).toEqual([
      shownAs(mug),
      { ...shownAs(mug), price: 999 },
      { ...shownAs(hat), price: 2_000 },
      null,
    ]);
  });

  test('[P-31] a viewer who joins late finds the shown product in the stream', async () => {
    await begin();
    expect(await shownToLateViewer()).toBeNull();
    const mug = await create();
    await show(mug);
    await service.advance(1);
    expect(await shownToLateViewer()).toEqual(shownAs(mug));
    await expectNoContent(await request('DELETE', `/${mug.id}`));
    await service.advance(1);
    expect(await shownToLateViewer()).toBeNull();
    expect(await published()).toEqual([shownAs(mug), null]);
  });

  test('[P-32] purchases take from the stock of their product, which ends at 0', async () => {
    await begin();
    const mug = await create();
    const uncounted = await create({ name: 'Song', stock: null });
    await show(mug);
    await service.advance(1);
    await expectJson(await buy({ productId: mug.id }), 201);
    await expectJson(await buy({ productId: uncounted.id, quantity: 9 }), 201);
    await expectJson(await buy({}), 201);
    await service.advance(1);
    expect((await list()).map(({ stock }) => stock)).toEqual([2, null]);
    await expectJson(await buy({ productId: mug.id, quantity: 7 }), 201);
    await expectJson(await buy({ productId: mug.id.toUpperCase() }), 201);
    expect((await published()).map((data) => (data as Product).stock)).toEqual([3, 2, 0]);
    const purchases = await service.events(viewer, service.interval() - 1);
    expect(purchases.find(({ type }) => type === 'chats')?.data).toMatchObject({
      purchases: [
        { id: expect.any(String), viewer: '', name: 'Ada', text: 'bought a mug' },
        { id: expect.any(String), viewer: '', name: 'Ada', text: 'bought a mug' },
      ],
    });
    expect(JSON.stringify(purchases)).not.toContain('productId');
  });

  test('[P-32] concurrent purchases are all taken, and an interval has one event', async () => {
    await begin();
    const mug = await create({ stock: 100 });
    await show(mug);
    await service.advance(1);
    const replies = await Promise.all(
      Array.from({ length: 15 }, () => buy({ productId: mug.id, quantity: 2 })),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array.from(replies, () => 201));
    expect((await published()).map((data) => (data as Product).stock)).toEqual([100, 70]);
  });

  test('[P-32] a purchase of an unknown product, or of one of another stream, returns 400', async () => {
    await begin();
    const foreign = await create();
    await begin();
    for (const productId of [randomUUID(), foreign.id]) {
      const { detail } = await expectProblem(await buy({ productId }), 400);
      expect(detail).toBe('data.productId: the stream has no such product.');
    }
    await service.advance(1);
    expect((await service.events(viewer, start)).map(({ type }) => type)).not.toContain('chats');
  });

  test('[P-31] an invalid product returns 400 with its field', async () => {
    await begin();
    const mug = await create();
    for (const [field, values] of Object.entries({
      name: ['', ' ', 'x'.repeat(81), null],
      picture_url: ['', 'mug.jpg', 'javascript:alert(1)'],
      price: [-1, 1.5, '3', 1e13, null],
      currency: ['eur', 'EURO', 'XYZ', '', null],
      url: ['', '/mug', 'javascript:alert(1)', null],
      stock: [-1, 0.5, '3', 1e10],
    })) {
      for (const value of values) {
        const created = await request('POST', '', { ...PRODUCT, [field]: value });
        expect((await expectProblem(created, 400)).detail).toStartWith(`${field}:`);
        const changed = await request('PATCH', `/${mug.id}`, { [field]: value });
        expect((await expectProblem(changed, 400)).detail).toStartWith(`${field}:`);
      }
    }
    for (const quantity of [0, 1.5, 10_001]) {
      await expectProblem(await buy({ productId: mug.id, quantity }), 400);
    }
    await expectProblem(await request('PATCH', `/${mug.id}`, {}), 400);
    expect(await list()).toEqual([mug]);
  });

  test('[P-31] a stream has at most 100 products', async () => {
    await begin();
    for (let n = 1; n <= PRODUCTS_MAX; n++) await create({ name: `Product ${n}` });
    await expectProblem(await request('POST', '', PRODUCT), 409);
    const names = (await list()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      Array.from({ length: PRODUCTS_MAX }, (_, n) => `Product ${n + 1}`).toSorted(),
    );
  });

  test('[P-31] products can be hidden and changed after the show; purchases are refused', async () => {
    await begin();
    const mug = await create();
    await show(mug);
    await service.studio('POST', `/streams/${streamId}/start`);
    await service.studio('POST', `/streams/${streamId}/end`);
    await expectProblem(await buy({ productId: mug.id }), 409);
    expect(await hide(mug)).toEqual({ ...mug, stock: 3, shown: false });
    expect(await published()).toEqual([null]);
  });
});

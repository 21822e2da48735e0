import { expect, test } from 'bun:test';
import { keepingIterators } from '../../test/support/kept-iterators.ts';
import { UnsentResponses } from './unsent-responses.ts';

const MAX_BYTES = 1_000;

function fixture() {
  const closed: string[] = [];
  const unsent = new UnsentResponses(MAX_BYTES);
  const create = (name: string, address = '203.0.113.1') => ({
    address,
    terminate: () => void closed.push(name),
  });
  return { unsent, closed, create };
}

test('[L-3] a buffer that many responses share counts once, until the last of them is sent', () => {
  const { unsent, closed, create } = fixture();
  const shared = new ArrayBuffer(900);
  const responses = Array.from({ length: 100 }, (_, n) => create(`${n}`));
  for (const response of responses) unsent.set(response, [shared, shared], 0);
  expect([unsent.bytes, closed]).toEqual([900, []]);
  unsent.set(responses[0] as (typeof responses)[0], [], 0);
  for (const response of responses.slice(1, -1)) unsent.delete(response);
  expect(unsent.bytes).toBe(900);
  unsent.delete(responses.at(-1) as (typeof responses)[0]);
  expect(unsent.bytes).toBe(0);
});

test('[L-3] above the limit the oldest responses are closed until a tenth of it is free', () => {
  const { unsent, closed, create } = fixture();
  const responses = Array.from({ length: 10 }, (_, n) => create(`${n}`));
  for (const response of responses) unsent.set(response, [new ArrayBuffer(60)], 40);
  // An older response that changes stays the older one.
  unsent.set(responses[0] as (typeof responses)[0], [new ArrayBuffer(50)], 40);
  expect([unsent.bytes, closed]).toEqual([990, []]);
  unsent.set(create('new'), [new ArrayBuffer(100)], 0);
  expect([unsent.bytes, closed]).toEqual([900, ['0', '1']]);
});

test('[L-3] above the limit the responses of clients with at most an equal share stay', () => {
  const { unsent, closed, create } = fixture();
  unsent.set(create('slow reader', '203.0.113.2'), [new ArrayBuffer(100)], 0);
  for (let n = 0; n < 18; n++) unsent.set(create(`${n}`), [new ArrayBuffer(50)], 0);
  expect([unsent.bytes, closed]).toEqual([1_000, []]);
  unsent.set(create('new'), [new ArrayBuffer(50)], 0);
  expect([unsent.bytes, closed]).toEqual([900, ['0', '1', '2']]);
});

test('[L-3] a buffer that clients share is released, whatever their shares', () => {
  const { unsent, closed, create } = fixture();
  const shared = new ArrayBuffer(950);
  unsent.set(create('a'), [shared], 10);
  unsent.set(create('b', '203.0.113.2'), [shared], 10);
  unsent.set(create('c', '203.0.113.3'), [shared], 40);
  expect(unsent.bytes).toBeLessThanOrEqual(900);
  expect(closed.length).toBeGreaterThan(0);
});

test('[L-3] a response above the limit is closed itself', () => {
  const { unsent, closed, create } = fixture();
  unsent.set(create('large'), [new ArrayBuffer(MAX_BYTES)], 1);
  expect([unsent.bytes, closed]).toEqual([0, ['large']]);
});

test('[L-3] no buffer of a closed response is kept, even if every iterator is kept', async () => {
  const { unsent, create } = fixture();
  await keepingIterators(async () => {
    const buffers: WeakRef<ArrayBuffer>[] = [];
    for (let n = 0; n < 2_000; n++) {
      const buffer = new ArrayBuffer(100);
      buffers.push(new WeakRef(buffer));
      unsent.set(create(`${n}`), [buffer], 0);
    }
    await Bun.sleep(0);
    Bun.gc(true);
    expect(buffers.filter((buffer) => buffer.deref() !== undefined).length).toBeLessThan(200);
  });
});

test('[L-3] a cut does not work out the clients of all responses again', () => {
  const { unsent } = fixture();
  let reads = 0;
  const responseOf = (client: string) => ({
    get address() {
      reads++;
      return client;
    },
    terminate: () => {},
  });
  for (let n = 0; n < 400; n++) unsent.set(responseOf('203.0.113.1'), [], 1);
  for (let n = 0; n < 40; n++) unsent.set(responseOf('203.0.113.2'), [new ArrayBuffer(100)], 0);
  expect(reads).toBe(440);
});

test('[L-3] a playlist counts once for all responses, and each version of it', () => {
  const { unsent, closed, create } = fixture();
  const body = (version: number) => ({ key: `/media/a/v0.m3u8 ${version}`, byteLength: 300 });
  const crowd = Array.from({ length: 100 }, (_, n) => create(`${n}`));
  for (const response of crowd) unsent.set(response, [body(1)], 1);
  expect([unsent.bytes, closed]).toEqual([400, []]);
  for (const response of crowd) unsent.delete(response);
  expect(unsent.bytes).toBe(0);
  for (let version = 1; version <= 4; version++)
    unsent.set(create(`version ${version}`), [body(version)], 1);
  expect(closed).toEqual(['version 1', 'version 2']);
  expect(unsent.bytes).toBe(602);
});

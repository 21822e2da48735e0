import { expect, test } from 'bun:test';
import { keepingIterators } from '../../test/support/kept-iterators.ts';
import { UnsentResponses } from './unsent-responses.ts';

const MAX_BYTES = 1_000;

function fixture() {
  const closed: string[] = [];
  const unsent = new UnsentResponses(MAX_BYTES);
  const create = (name: string) => ({ terminate: () => void closed.push(name) });
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

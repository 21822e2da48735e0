import { expect, test } from 'bun:test';
import { pageStream } from './page-stream.ts';

test('is no failure when the client goes away while a page is read', async () => {
  const failures: unknown[] = [];
  const [started, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  async function* pages() {
    yield 'first';
    started.resolve();
    await finished.promise;
    yield 'second';
  }
  const reader = pageStream(pages(), {
    onFailure: (error) => failures.push(error),
    onEnd: () => {},
  }).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('first');
  const reading = reader.read();
  await started.promise;
  const cancelled = reader.cancel();
  finished.resolve();
  await Promise.all([reading, cancelled]);
  expect(failures).toEqual([]);
});

test('breaks off and reports the error when a page cannot be read', async () => {
  const failures: unknown[] = [];
  const missing = new Error('the table is gone');
  async function* pages() {
    yield 'first';
    throw missing;
  }
  const text = new Response(
    pageStream(pages(), { onFailure: (error) => failures.push(error), onEnd: () => {} }),
  ).text();
  expect(await text.catch(() => 'broken off')).toBe('broken off');
  expect(failures).toEqual([missing]);
});

test('lets other work run before each text', async () => {
  const order: string[] = [];
  function* texts() {
    for (const text of ['first', 'second', 'third']) {
      setImmediate(() => order.push('other work'));
      order.push(text);
      yield text;
    }
  }
  await new Response(pageStream(texts(), { onFailure: () => {}, onEnd: () => {} })).text();
  expect(order.slice(0, 5)).toEqual(['first', 'other work', 'second', 'other work', 'third']);
});

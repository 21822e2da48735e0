import { expect, test } from 'bun:test';
import { createSourceFixture } from '../../test/support/media/source-registry-fixture.ts';

test('[M-7] the streams of idle channels are read a few at a time, and each once', async () => {
  const { channels, store } = createSourceFixture();
  const ids = Array.from({ length: 20 }, (_, n) => `idle ${n}`);
  for (const id of ids) {
    store.add(id, `sk_${id}`);
    await channels.open(id);
  }
  const reads: string[] = [];
  const running: (() => void)[] = [];
  const { findStream } = store;
  Object.assign(store, {
    findStream: async (input: { id: string }) => {
      reads.push(input.id);
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push(resolve);
      await promise;
      return findStream.call(store, input);
    },
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const hasNoSource = () => false;
  for (let tick = 0; tick < 3; tick++) {
    channels.checkIdle(hasNoSource);
    await settle();
  }
  expect(reads).toHaveLength(4);
  for (let end = running.shift(); end; end = running.shift()) {
    end();
    await settle();
  }
  expect(reads.toSorted()).toEqual(ids.toSorted());
});

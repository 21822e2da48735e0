import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ByteQueue, concatBytes } from './byte-queue.ts';

test('ByteQueue returns pushed bytes in order, in chunks of any length', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 5_000 }), { maxLength: 20 });
  const lengths = fc.array(fc.nat(6_000), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(chunks, lengths, (pushed, takeLengths) => {
      const queue = new ByteQueue();
      const out: Uint8Array[] = [];
      for (const [i, chunk] of pushed.entries()) {
        queue.push(chunk);
        const length = Math.min(takeLengths[i % takeLengths.length] ?? 0, queue.length);
        expect(queue.peek().length).toBe(queue.length);
        if (i % 3 < 2) {
          out.push(queue.take(length));
          continue;
        }
        out.push(queue.peek().slice(0, length));
        queue.drop(length);
      }
      out.push(queue.take(queue.length));
      expect(queue.length).toBe(0);
      expect(concatBytes(out)).toEqual(concatBytes(pushed));
    }),
  );
});

test('bytes from take do not change when the queue reuses its buffer', () => {
  const queue = new ByteQueue();
  queue.push(Uint8Array.of(1, 2, 3));
  const taken = queue.take(2);
  queue.push(new Uint8Array(100).fill(9));
  queue.drop(1);
  queue.push(new Uint8Array(10_000).fill(8));
  expect([...taken]).toEqual([1, 2]);
});

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseEventStream } from './feed-reading.ts';

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.slice(start, start + size);
}

test('[F-22] parseEventStream returns the exact bytes of messages, however the stream is split into chunks', async () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 50 }), async (all, size) => {
      const bodies = all.map((text, index) => JSON.stringify({ interval: 7 + index, text }));
      const stream = bodies.map((body, index) => `id: ${7 + index}\ndata: ${body}\n\n`).join('');
      const bytes = new TextEncoder().encode(`: hello\n\n${stream}`);
      const read: [number, string][] = [];
      for await (const { interval, data } of parseEventStream(inChunks(bytes, size))) {
        read.push([interval, Buffer.from(data).toString()]);
      }
      expect(read).toEqual(bodies.map((body, index) => [7 + index, body]));
    }),
  );
});

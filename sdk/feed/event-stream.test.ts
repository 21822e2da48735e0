import { describe, expect, test } from 'bun:test';
import { readEventStream } from './event-stream.ts';

const bytes = new TextEncoder();

function bodyOf(chunks: readonly Uint8Array[], doesEnd = true): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      if (doesEnd) controller.close();
    },
  });
}

async function read(chunks: readonly Uint8Array[]): Promise<string[]> {
  const told: string[] = [];
  const { signal } = new AbortController();
  await readEventStream(bodyOf(chunks), signal, (data) => told.push(data.trim()));
  return told;
}

const TEXT = ': fourbeat\n\nid: 7\ndata: {"é":"🎉"}\n\nid: 8\ndata: {}\n\n';

describe('[F-22] an event stream', () => {
  test.each([1, 2, 3, 7, 1_000])(
    'tells the data of each message, in pieces of %d bytes',
    async (size) => {
      const whole = bytes.encode(TEXT);
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        whole.slice(at * size, (at + 1) * size),
      );
      expect(await read(chunks)).toEqual(['{"é":"🎉"}', '{}']);
    },
  );

  test('is read with the line ends of others as well', async () => {
    expect(await read([bytes.encode(TEXT.replaceAll('\n', '\r\n'))])).toHaveLength(2);
  });

  test('tells nothing of a message that is cut off', async () => {
    expect(await read([bytes.encode('id: 7\ndata: {}\n\nid: 8\ndata: {"a":1')])).toEqual(['{}']);
    expect(await read([bytes.encode('id: 7\ndata: {}\n\nid: 8\ndata: {}\n')])).toEqual(['{}']);
  });

  test('ends when the signal ends it, though nothing comes', async () => {
    const ending = new AbortController();
    const reading = readEventStream(bodyOf([], false), ending.signal, () => {});
    ending.abort();
    expect(await reading).toBeUndefined();
  });

  test('tells nothing after the signal', async () => {
    const told: string[] = [];
    const ending = new AbortController();
    await readEventStream(bodyOf([bytes.encode(TEXT)]), ending.signal, (data) => {
      told.push(data);
      ending.abort();
    });
    expect(told).toHaveLength(1);
  });

  test('throws what breaks it, and leaves no reader behind', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError('broken')),
    });
    const { signal } = new AbortController();
    const thrown = await readEventStream(body, signal, () => {}).catch((error) => error);
    expect(thrown).toBeInstanceOf(TypeError);
  });
});

import { describe, expect, test } from 'bun:test';
import { readEventStream } from './event-stream.ts';

const bytes = new TextEncoder();

function bodyOf(chunks: readonly Uint8Array[], isClosed = true): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      if (isClosed) controller.close();
    },
  });
}

async function read(chunks: readonly Uint8Array[]): Promise<string[]> {
  const received: string[] = [];
  const { signal } = new AbortController();
  await readEventStream(bodyOf(chunks), signal, (data) => received.push(data.trim()));
  return received;
}

const TEXT = ': fourbeat\n\nid: 7\ndata: {"é":"🎉"}\n\nid: 8\ndata: {}\n\n';

describe('[F-22] an event stream', () => {
  test.each([1, 2, 3, 7, 1_000])(
    'passes on the data of each message, in chunks of %d bytes',
    async (size) => {
      const encoded = bytes.encode(TEXT);
      const chunks = Array.from({ length: Math.ceil(encoded.length / size) }, (_, index) =>
        encoded.slice(index * size, (index + 1) * size),
      );
      expect(await read(chunks)).toEqual(['{"é":"🎉"}', '{}']);
    },
  );

  test('is also read with CRLF line ends', async () => {
    expect(await read([bytes.encode(TEXT.replaceAll('\n', '\r\n'))])).toHaveLength(2);
  });

  test('passes on no incomplete message', async () => {
    expect(await read([bytes.encode('id: 7\ndata: {}\n\nid: 8\ndata: {"a":1')])).toEqual(['{}']);
    expect(await read([bytes.encode('id: 7\ndata: {}\n\nid: 8\ndata: {}\n')])).toEqual(['{}']);
  });

  test('ends at an endless line', async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls++;
        controller.enqueue(new Uint8Array(1_000_000).fill(120));
      },
    });
    await readEventStream(body, new AbortController().signal, () => {});
    expect(pulls).toBeLessThan(30);
  });

  test('ends when its signal is aborted, also while nothing arrives', async () => {
    const controller = new AbortController();
    const reading = readEventStream(bodyOf([], false), controller.signal, () => {});
    controller.abort();
    expect(await reading).toBeUndefined();
  });

  test('passes on nothing after its signal is aborted', async () => {
    const received: string[] = [];
    const controller = new AbortController();
    await readEventStream(bodyOf([bytes.encode(TEXT)]), controller.signal, (data) => {
      received.push(data);
      controller.abort();
    });
    expect(received).toHaveLength(1);
  });

  test('throws the error that broke it', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError('broken')),
    });
    const { signal } = new AbortController();
    const thrown = await readEventStream(body, signal, () => {}).catch((error) => error);
    expect(thrown).toBeInstanceOf(TypeError);
  });
});

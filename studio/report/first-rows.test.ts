import { describe, expect, test } from 'bun:test';
import { firstRows } from './first-rows.ts';

function streamOf(...chunks: readonly string[]) {
  let isCancelled = false;
  const remaining = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = remaining.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(chunk));
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  return { body, isCancelled: () => isCancelled };
}

describe('firstRows', () => {
  test('returns all rows across chunk boundaries', async () => {
    const { body } = streamOf('{"seat":1}\n{"se', 'at":2}\n', '{"seat":3}\n');
    const rows = [{ seat: 1 }, { seat: 2 }, { seat: 3 }];
    expect(await firstRows<{ seat: number }>(body, 3)).toEqual({ rows, hasMore: false });
  });

  test('returns the maximum and cancels the stream', async () => {
    const lines = ['{"seat":1}\n', '{"seat":2}\n', '{"seat":3}\n', 'never read'];
    const { body, isCancelled } = streamOf(...lines);
    const rows = [{ seat: 1 }, { seat: 2 }];
    expect(await firstRows<{ seat: number }>(body, 2)).toEqual({ rows, hasMore: true });
    expect(isCancelled()).toBe(true);
  });

  test('returns no rows for an empty stream', async () => {
    expect(await firstRows(streamOf().body, 2)).toEqual({ rows: [], hasMore: false });
  });
});

import { describe, expect, test } from 'bun:test';
import { firstRows } from './first-rows.ts';

function streamOf(...pieces: readonly string[]) {
  let isCancelled = false;
  const encoder = new TextEncoder();
  const rest = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = rest.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(encoder.encode(piece));
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  return { body, isCancelled: () => isCancelled };
}

describe('the first rows', () => {
  test('are all when there are no more, however they are cut', async () => {
    const { body } = streamOf('{"seat":1}\n{"se', 'at":2}\n', '{"seat":3}\n');
    expect(await firstRows<{ seat: number }>(body, 3)).toEqual({
      rows: [{ seat: 1 }, { seat: 2 }, { seat: 3 }],
      isMore: false,
    });
  });

  test('are as many as were asked for, and the others are not taken', async () => {
    const { body, isCancelled } = streamOf(
      '{"seat":1}\n',
      '{"seat":2}\n',
      '{"seat":3}\n',
      'never read',
    );
    expect(await firstRows<{ seat: number }>(body, 2)).toEqual({
      rows: [{ seat: 1 }, { seat: 2 }],
      isMore: true,
    });
    expect(isCancelled()).toBe(true);
  });

  test('of nothing are none', async () => {
    expect(await firstRows(streamOf().body, 2)).toEqual({ rows: [], isMore: false });
  });
});

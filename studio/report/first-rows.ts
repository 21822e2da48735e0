export interface FirstRows<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Reads the first rows of NDJSON, then cancels the stream. */
export async function firstRows<Row>(
  body: ReadableStream<Uint8Array>,
  max: number,
): Promise<FirstRows<Row>> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  const rows: Row[] = [];
  let remainder = '';
  for (;;) {
    const { done, value = '' } = await reader.read();
    const lines = `${remainder}${value}`.split('\n');
    remainder = lines.pop() ?? '';
    rows.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as Row));
    if (rows.length > max) {
      await reader.cancel();
      return { rows: rows.slice(0, max), hasMore: true };
    }
    if (done) return { rows, hasMore: false };
  }
}

export interface FirstRows<Row> {
  readonly rows: readonly Row[];
  /** There are others after them. */
  readonly isMore: boolean;
}

/** The first rows of NDJSON; of the rest no more is taken than was on its way. */
export async function firstRows<Row>(
  body: ReadableStream<Uint8Array>,
  most: number,
): Promise<FirstRows<Row>> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  const rows: Row[] = [];
  let rest = '';
  for (;;) {
    const { done, value = '' } = await reader.read();
    const lines = `${rest}${value}`.split('\n');
    rest = lines.pop() ?? '';
    rows.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as Row));
    if (rows.length > most) {
      await reader.cancel();
      return { rows: rows.slice(0, most), isMore: true };
    }
    if (done) return { rows, isMore: false };
  }
}

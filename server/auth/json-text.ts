// What the runtime takes of a response at once.
export const PART_CHARS = 64 << 10;

/** A serialized result. A large one has parts that are made one after the other, and never joined. */
export class JsonText {
  constructor(private readonly parts: readonly string[]) {}

  /** The length in UTF-8. */
  get bytes(): number {
    return this.parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  }

  /** The most that the parts take in memory until they are sent. */
  get memoryBytes(): number {
    return this.parts.reduce((sum, part) => sum + memoryOf(part), 0);
  }

  toString(): string {
    return this.parts.join('');
  }

  /** The texts of a response. */
  *texts(): Generator<string> {
    let text = '';
    for (const part of this.parts) {
      if (text.length + part.length > PART_CHARS) {
        yield* partsOf(text);
        text = '';
      }
      text += part;
    }
    yield* partsOf(text);
  }
}

/**
 * The runtime stores a text with one byte for each character if all are ASCII. It stores others with two, and some
 * with one; to find out which takes 10 ms for 6 MB.
 */
function memoryOf(text: string): number {
  const { length } = text;
  return Buffer.byteLength(text) === length ? length : 2 * length;
}

/** Parts of a text, none of which ends within a character. */
export function* partsOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = start + PART_CHARS;
    const isWithinPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const next = isWithinPair ? end - 1 : end;
    yield text.slice(start, next);
    start = next;
  }
}

/** What tokens have in common that one key signed for one stream: all but their last bytes. */
export interface Beginning {
  readonly key: string;
  readonly bytes: Buffer;
  readonly streamId: string;
  /** How many tokens have it. */
  uses: number;
}

/** The beginnings of the tokens that are kept, each once. */
export class Beginnings {
  private readonly known = new Map<string, Beginning>();

  /** The one that this is, for one token more. */
  take(bytes: Buffer, streamId: string): Beginning {
    const key = `${streamId}\0${bytes.toString('latin1')}`;
    let beginning = this.known.get(key);
    if (!beginning) {
      beginning = { key, bytes: Buffer.from(bytes), streamId, uses: 0 };
      this.known.set(key, beginning);
    }
    beginning.uses++;
    return beginning;
  }

  /** A token that had it is kept no more. */
  release(beginning: Beginning): void {
    beginning.uses--;
    if (beginning.uses === 0) this.known.delete(beginning.key);
  }
}

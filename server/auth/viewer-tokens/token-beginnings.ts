/** What tokens have in common that one key signed for one stream: all but their last bytes. */
export interface TokenPrefix {
  readonly key: string;
  readonly bytes: Buffer;
  readonly streamId: string;
  /** How many tokens have it. */
  uses: number;
}

/** The beginnings of the tokens that are kept, each once. */
export class TokenPrefixes {
  private readonly byKey = new Map<string, TokenPrefix>();

  /** The one that this is, for one token more. */
  acquire(bytes: Buffer, streamId: string): TokenPrefix {
    const key = `${streamId}\0${bytes.toString('latin1')}`;
    let beginning = this.byKey.get(key);
    if (!beginning) {
      beginning = { key, bytes: Buffer.from(bytes), streamId, uses: 0 };
      this.byKey.set(key, beginning);
    }
    beginning.uses++;
    return beginning;
  }

  /** A token that had it is kept no more. */
  release(beginning: TokenPrefix): void {
    beginning.uses--;
    if (beginning.uses === 0) this.byKey.delete(beginning.key);
  }
}

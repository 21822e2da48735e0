/** The common prefix of the tokens that one key signed for one stream: all but their last bytes. */
export interface TokenPrefix {
  readonly key: string;
  readonly bytes: Buffer;
  readonly streamId: string;
  /** Number of cached tokens with this prefix. */
  uses: number;
}

/** Reference-counted prefixes of the cached tokens, each stored once. */
export class TokenPrefixes {
  private readonly byKey = new Map<string, TokenPrefix>();

  /** The stored prefix with these bytes; counts one more use. */
  acquire(bytes: Buffer, streamId: string): TokenPrefix {
    const key = `${streamId}\0${bytes.toString('latin1')}`;
    let prefix = this.byKey.get(key);
    if (!prefix) {
      prefix = { key, bytes: Buffer.from(bytes), streamId, uses: 0 };
      this.byKey.set(key, prefix);
    }
    prefix.uses++;
    return prefix;
  }

  /** Counts one use less, and removes the prefix after the last one. */
  release(prefix: TokenPrefix): void {
    prefix.uses--;
    if (prefix.uses === 0) this.byKey.delete(prefix.key);
  }
}

import type { Fourbeat } from '../run/fourbeat.ts';

// A token lives for ten minutes, and must outlast what it is used for.
const USED_MS = 240_000;

/** Tokens of the first so many viewers of a stream; those that will expire soon are had again. */
export class ViewerTokens {
  private tokens: string[] = [];
  private sinceMs = 0;

  constructor(private readonly fourbeat: Pick<Fourbeat, 'tokens'>) {}

  async of(viewers: number): Promise<string[]> {
    const nowMs = performance.now();
    if (nowMs - this.sinceMs > USED_MS) {
      this.tokens = [];
      this.sinceMs = nowMs;
    }
    const { length } = this.tokens;
    if (length < viewers)
      this.tokens.push(...(await this.fourbeat.tokens(viewers - length, length)));
    return this.tokens.slice(0, viewers);
  }
}

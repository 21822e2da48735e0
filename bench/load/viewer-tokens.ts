import type { Fourbeat } from '../run/fourbeat.ts';

// A token expires after ten minutes and must stay valid during a measurement.
const RENEW_AFTER_MS = 240_000;

/** Tokens of the first viewers of a stream; renewed before they expire. */
export class ViewerTokens {
  private tokens: string[] = [];
  private issuedMs = 0;

  constructor(private readonly fourbeat: Pick<Fourbeat, 'tokens'>) {}

  async of(viewers: number): Promise<string[]> {
    const nowMs = performance.now();
    if (nowMs - this.issuedMs > RENEW_AFTER_MS) {
      this.tokens = [];
      this.issuedMs = nowMs;
    }
    const { length } = this.tokens;
    if (length < viewers)
      this.tokens.push(...(await this.fourbeat.tokens(viewers - length, length)));
    return this.tokens.slice(0, viewers);
  }
}

import { createHmac } from 'node:crypto';

const MINUTE_MS = 60_000;

/** Cookies that prove that a caller has the address it says, without anything kept for it. */
export class SynCookies {
  /** @param secret of this process */
  constructor(private readonly secret: Uint8Array) {}

  /** The cookie of an address in this minute. */
  of(address: string, port: number, nowMs: number): number {
    return this.make(address, port, Math.floor(nowMs / MINUTE_MS));
  }

  /** Whether it is the cookie of this address, of this minute or the last. */
  isOf(cookie: number, address: string, port: number, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    return [minute, minute - 1].some((then) => this.make(address, port, then) === cookie);
  }

  private make(address: string, port: number, minute: number): number {
    const hmac = createHmac('sha256', this.secret).update(`${address}|${port}|${minute}`);
    return hmac.digest().readUInt32BE(0);
  }
}

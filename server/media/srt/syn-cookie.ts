import { createHmac } from 'node:crypto';

const MINUTE_MS = 60_000;

/** Stateless SYN cookies: they prove that a caller receives datagrams at its address. */
export class SynCookies {
  /** @param secret random bytes of this process */
  constructor(private readonly secret: Uint8Array) {}

  /** Creates the cookie of an address for the current minute. */
  create(address: string, port: number, nowMs: number): number {
    return this.make(address, port, Math.floor(nowMs / MINUTE_MS));
  }

  /** Whether a cookie was created for this address in the current or previous minute. */
  verify(cookie: number, address: string, port: number, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    return [minute, minute - 1].some((each) => this.make(address, port, each) === cookie);
  }

  private make(address: string, port: number, minute: number): number {
    const hmac = createHmac('sha256', this.secret).update(`${address}|${port}|${minute}`);
    return hmac.digest().readUInt32BE(0);
  }
}

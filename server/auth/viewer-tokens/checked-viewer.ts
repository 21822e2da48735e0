/** Whose a token is, as far as it is kept. */
export interface TokenSeat {
  /** In lower case. */
  readonly streamId: string;
  readonly seat: number;
  /** When the token expires, Unix ms. */
  readonly expiresMs: number;
}

/** A viewer whose token was checked. What few requests need is made when it is asked for. */
export class CheckedViewer implements TokenSeat {
  readonly streamId: string;
  readonly seat: number;
  readonly expiresMs: number;
  readonly #given: string | Buffer;
  readonly #from: number;
  readonly #to: number;

  /** @param given the token, or bytes that have it between two places and do not change */
  constructor(seat: TokenSeat, given: string | Buffer, from = 0, to = given.length) {
    this.streamId = seat.streamId;
    this.seat = seat.seat;
    this.expiresMs = seat.expiresMs;
    this.#given = given;
    this.#from = from;
    this.#to = to;
  }

  get token(): string {
    const given = this.#given;
    return typeof given === 'string' ? given : given.toString('latin1', this.#from, this.#to);
  }

  /** Opaque id: the `sub` of the token. */
  get id(): string {
    const [, payload = ''] = this.token.split('.');
    return JSON.parse(Buffer.from(payload, 'base64url').toString()).sub;
  }
}

/** A viewer, identified by stream and seat. */
export interface SeatOfStream {
  /** In lower case. */
  readonly streamId: string;
  readonly seat: number;
}

/** The claims of a viewer token that the token cache stores. */
export interface TokenSeat extends SeatOfStream {
  /** When the token expires, Unix ms. */
  readonly expiresMs: number;
}

/** A viewer with a verified token. `token` and `id`, which few requests need, are computed on access. */
export class CheckedViewer implements TokenSeat {
  readonly streamId: string;
  readonly seat: number;
  readonly expiresMs: number;
  readonly #source: string | Buffer;
  readonly #from: number;
  readonly #to: number;

  /** @param source the token, or bytes that have it from `from` to `to` and do not change */
  constructor(seat: TokenSeat, source: string | Buffer, from = 0, to = source.length) {
    this.streamId = seat.streamId;
    this.seat = seat.seat;
    this.expiresMs = seat.expiresMs;
    this.#source = source;
    this.#from = from;
    this.#to = to;
  }

  get token(): string {
    const source = this.#source;
    return typeof source === 'string' ? source : source.toString('latin1', this.#from, this.#to);
  }

  /** The opaque viewer id: the `sub` of the token. */
  get id(): string {
    const [, payload = ''] = this.token.split('.');
    return JSON.parse(Buffer.from(payload, 'base64url').toString()).sub;
  }
}

/** The viewers whom hosts banned from their streams. */
export interface BanList {
  isBanned(viewer: SeatOfStream): boolean;
}

/** The 401 for banned viewers (SPEC C-19). */
export const BANNED = {
  detail: 'The host removed you from this show.',
  members: { banned: true },
} as const;

/** `admitted`, or the reason why not. */
export type Admission = 'admitted' | 'expired' | 'wrong-stream' | 'banned';

/**
 * Decides whether a viewer whose token was verified may use a stream (I6, SPEC C-19).
 * @param streamId the stream of the request, in lower case; null: the request names none
 * @param nowMs service time, Unix ms
 */
export function admissionOf(
  viewer: TokenSeat,
  streamId: string | null,
  nowMs: number,
  bans: BanList,
): Admission {
  if (viewer.expiresMs <= nowMs) return 'expired';
  if (streamId !== null && viewer.streamId !== streamId) return 'wrong-stream';
  return bans.isBanned(viewer) ? 'banned' : 'admitted';
}

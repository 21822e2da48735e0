import type { SeatOfStream, TokenSeat } from './checked-viewer.ts';

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

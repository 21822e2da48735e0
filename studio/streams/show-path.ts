import type { StudioStream } from '../../protocol/studio.ts';

type Show = Pick<StudioStream, 'id' | 'status'>;

/** The page of the studio that a host needs now: On air while the show is live, else its setup. */
export function showPathOf({ id, status }: Show): string {
  return status === 'STREAMING' ? `/streams/${id}/on-air` : `/streams/${id}`;
}

/** The page to open after sign-in: that of the live show; null: there is not exactly one. */
export function pathAfterSignIn(shows: readonly Show[]): string | null {
  const [live, another] = shows.filter(({ status }) => status === 'STREAMING');
  return live && !another ? showPathOf(live) : null;
}

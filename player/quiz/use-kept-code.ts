import { useStoredMax } from '../use-stored-max.ts';

/** What decides whether the code of a winner is shown outside of the winners of a round. */
interface KeptCode {
  readonly streamId: string;
  /** The interval of the newest win; 0: none. */
  readonly wonAt: number;
  readonly code: string | null;
  /** Whether the winners of a round show it. */
  readonly isOnCard: boolean;
}

/**
 * The code of a winner, who may have to show it until the end of the show and later. A hidden code stays
 * hidden until the viewer wins again.
 * @returns the code, null: none; and a function that hides it
 */
export function useKeptCode({ streamId, wonAt, code, isOnCard }: KeptCode) {
  const [hiddenAt, raise] = useStoredMax(`fourbeat-hidden-code-${streamId}`);
  const isKept = wonAt > hiddenAt && !isOnCard;
  return [isKept ? code : null, () => raise(wonAt)] as const;
}

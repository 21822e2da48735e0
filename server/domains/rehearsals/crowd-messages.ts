import type { CrowdFigures, NewRehearsal } from '../../../protocol/rehearsal.ts';

/** What a node tells the thread of a rehearsal's viewers. */
export type ToCrowdThread =
  | {
      readonly kind: 'begin';
      readonly hostname: string;
      readonly port: number;
      readonly streamId: string;
      readonly settings: NewRehearsal;
    }
  /** A viewer's token, or null: there is none now. */
  | { readonly kind: 'token'; readonly identifier: string; readonly token: string | null }
  /** The show is over: make the last checks, tell, and send everybody home. */
  | { readonly kind: 'finish' };

/** What the thread tells its node. */
export type FromCrowdThread =
  | { readonly kind: 'figures'; readonly figures: CrowdFigures; readonly isLast: boolean }
  /** Wants a viewer token for this identifier. */
  | { readonly kind: 'token-please'; readonly identifier: string }
  | { readonly kind: 'failed'; readonly reason: string };

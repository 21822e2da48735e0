import type { CrowdFigures, NewRehearsal } from '../../../protocol/rehearsal.ts';

/** Messages from the node to the thread with a rehearsal's simulated viewers. */
export type CrowdThreadCommand =
  | {
      readonly kind: 'start';
      readonly hostname: string;
      readonly port: number;
      readonly streamId: string;
      readonly settings: NewRehearsal;
    }
  /** The token that a viewer requested; null when none could be issued. */
  | { readonly kind: 'token'; readonly identifier: string; readonly token: string | null }
  /** The show is over: make the last checks, report, and disconnect all viewers. */
  | { readonly kind: 'finish' };

export type CrowdThreadEvent =
  | { readonly kind: 'figures'; readonly figures: CrowdFigures; readonly isLast: boolean }
  | { readonly kind: 'token-request'; readonly identifier: string }
  | { readonly kind: 'failed'; readonly reason: string };

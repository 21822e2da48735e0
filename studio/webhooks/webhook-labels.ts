import type { Attempt, Webhook } from '../../protocol/webhooks.ts';
import { texts } from './texts.ts';

export function attemptLabel({ status, error }: Attempt): string {
  if (error !== null) return texts.deliveries.attemptErrors[error];
  return status === null ? texts.deliveries.noResponse : texts.deliveries.attemptStatus(status);
}

export interface Health {
  readonly variant: 'good' | 'bad' | 'plain';
  readonly text: string;
  /** What the state means and what to do. */
  readonly help: string | null;
}

export function healthOf({ enabled, failingSince, disabledReason }: Webhook): Health {
  if (disabledReason !== null) {
    return {
      variant: 'bad',
      text: texts.health.stopped,
      help: texts.health.stoppedHelp[disabledReason],
    };
  }
  if (!enabled)
    return { variant: 'plain', text: texts.health.paused, help: texts.health.pausedHelp };
  if (failingSince === null) return { variant: 'good', text: texts.health.on, help: null };
  return { variant: 'bad', text: texts.health.failing, help: texts.health.failingHelp };
}

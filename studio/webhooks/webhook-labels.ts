import type { Attempt, DeliveryType, Webhook } from '../../protocol/webhooks.ts';

export const EVENT_LABELS: Readonly<Record<DeliveryType, string>> = {
  'stream.started': 'Show started',
  'stream.ended': 'Show ended',
  'stream.reopened': 'Show reopened',
  'audience.minute': 'Audience, every minute',
  'quiz.closed': 'Quiz closed, with counts',
  winners: 'Winners counted',
  test: 'Test',
};

const ERROR_LABELS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  setting: 'not an https:// URL',
  dns: 'host name not found',
  address: 'private address, not allowed',
  connection: 'connection failed',
  tls: 'invalid TLS certificate',
  timeout: 'no response within 10 s',
};

export function attemptLabel({ status, error }: Attempt): string {
  if (error !== null) return ERROR_LABELS[error];
  return status === null ? 'no response' : `status ${status}`;
}

export interface Health {
  readonly variant: 'good' | 'bad' | 'plain';
  readonly text: string;
  /** What the state means and what to do. */
  readonly help: string | null;
}

export function healthOf({ enabled, failingSince, disabledReason }: Webhook): Health {
  if (disabledReason !== null) {
    return { variant: 'bad', text: 'Stopped', help: STOPPED_HELP[disabledReason] };
  }
  if (!enabled) return { variant: 'plain', text: 'Paused', help: PAUSED_HELP };
  if (failingSince === null) return { variant: 'good', text: 'On', help: null };
  return { variant: 'bad', text: 'Failing', help: FAILING_HELP };
}

const STOPPED_HELP = {
  gone: 'The receiver responded with status 410 (Gone). Resume when it accepts deliveries again.',
  failing: 'All deliveries failed for three days. Resume when the receiver works again.',
} as const;
const PAUSED_HELP = 'Nothing is sent. Events during the pause are not sent later.';
const FAILING_HELP =
  'Failed deliveries are retried for a day. After three days of failures, the webhook stops.';

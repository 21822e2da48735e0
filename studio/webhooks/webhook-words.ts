import type { Attempt, DeliveryType, Webhook } from '../../protocol/webhooks.ts';

export const TYPE_WORDS: Readonly<Record<DeliveryType, string>> = {
  'stream.started': 'A show begins',
  'stream.ended': 'A show ends',
  'audience.minute': 'The audience of each minute',
  'quiz.closed': 'A quiz is closed, with its counts',
  winners: 'Winners are counted',
  test: 'Test',
};

const ERROR_WORDS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  setting: 'this service sends to https alone',
  dns: 'its name has no address',
  address: 'its address is one that webhooks may not reach',
  connection: 'no connection',
  tls: 'its certificate is not valid',
  timeout: 'no answer within 10 s',
};

/** What came of an attempt. */
export function attemptWords({ status, error }: Attempt): string {
  if (error !== null) return ERROR_WORDS[error];
  return status === null ? 'no answer' : `answered ${status}`;
}

/** How a webhook is. */
export interface Health {
  readonly look: 'good' | 'bad' | 'plain';
  readonly text: string;
  /** What it means, and what to do. */
  readonly help: string | null;
}

export function healthOf({ enabled, failingSince, disabledReason }: Webhook): Health {
  if (disabledReason === 'gone') {
    return {
      look: 'bad',
      text: 'Stopped',
      help: 'It answered 410, which means that it wants nothing any more. Go on when it does.',
    };
  }
  if (disabledReason === 'failing') {
    return {
      look: 'bad',
      text: 'Stopped',
      help: 'Nothing arrived there for three days. Go on when it works again.',
    };
  }
  if (!enabled)
    return {
      look: 'plain',
      text: 'Paused',
      help: 'Nothing is sent there, and what happens meanwhile is not told later.',
    };
  if (failingSince === null) return { look: 'good', text: 'On', help: null };
  return {
    look: 'bad',
    text: 'Failing',
    help: 'What does not arrive is tried again for a day; after three days of failures it is stopped.',
  };
}

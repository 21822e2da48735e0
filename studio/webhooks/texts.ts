import type { Attempt, DeliveryType, Webhook } from '../../protocol/webhooks.ts';

const events: Readonly<Record<DeliveryType, string>> = {
  'stream.started': 'Show started',
  'stream.ended': 'Show ended',
  'stream.reopened': 'Show reopened',
  'audience.minute': 'Audience, every minute',
  'quiz.closed': 'Quiz closed, with counts',
  winners: 'Winners counted',
  test: 'Test',
};

/** Why an attempt failed without a response. */
const attemptErrors: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  setting: 'not an https:// URL',
  dns: 'host name not found',
  address: 'private address, not allowed',
  connection: 'connection failed',
  tls: 'invalid TLS certificate',
  timeout: 'no response within 10 s',
};

/** Why the service stopped a webhook, and what to do. */
const stoppedHelp: Readonly<Record<NonNullable<Webhook['disabledReason']>, string>> = {
  gone: 'The receiver responded with status 410 (Gone). Resume when it accepts deliveries again.',
  failing: 'All deliveries failed for three days. Resume when the receiver works again.',
};

/** The texts of the webhook pages. */
export const texts = {
  list: {
    title: 'Webhooks',
    explanation:
      'A webhook notifies your program of events in your shows, such as a start, the audience or the winners. Each delivery is signed. Failed ones are retried for about a day.',
    loading: 'Loading webhooks',
    emptyTitle: 'No webhooks yet',
    emptyHelp: 'Create a webhook to notify one of your programs of events without polling.',
    create: 'New webhook',
  },
  webhook: {
    title: 'Webhook',
    all: 'All webhooks',
    loading: 'Loading webhook',
    notFound: 'Webhook not found',
    notFoundHelp: 'The webhook may have been deleted. Choose another one under “All webhooks”.',
    about: 'About the webhook',
    facts: { events: 'Events', created: 'Created', failingSince: 'Failing since' },
  },
  events,
  health: {
    on: 'On',
    paused: 'Paused',
    pausedHelp: 'Nothing is sent. Events during the pause are not sent later.',
    failing: 'Failing',
    failingHelp:
      'Failed deliveries are retried for a day. After three days of failures, the webhook stops.',
    stopped: 'Stopped',
    stoppedHelp,
  },
  form: {
    url: 'URL',
    urlHelp: 'The URL where your program accepts POST requests.',
    events: 'Events',
    create: 'Create',
    save: 'Save',
  },
  actions: {
    test: 'Send a test',
    testDone: 'Test sent. See the deliveries for the result.',
    pause: 'Pause',
    pauseTitle: 'Pause the webhook?',
    pauseHelp: 'Pending deliveries are dropped. Events during the pause are not sent later.',
    resume: 'Resume',
    more: 'More actions',
    edit: 'Edit',
    editTitle: 'Edit webhook',
    delete: 'Delete',
    deleteTitle: 'Delete the webhook?',
    deleteHelp: (url: string) =>
      `Nothing more is sent to ${url}, and its deliveries are deleted. This cannot be undone.`,
    deleteDone: 'Webhook deleted.',
  },
  secret: {
    explanation:
      'Deliveries are signed with this secret, so that your program can verify them. Copy it now. It is not shown again.',
    copy: 'Copy the secret',
    replaceMenu: 'Replace secret',
    replaceTitle: 'Replace the secret?',
    replaceHelp:
      'For 24 hours, deliveries are signed with both secrets, so that your program can switch without missing any. Then the old secret expires.',
    replace: 'Replace',
    newTitle: 'New secret',
    oldSecret: 'For 24 hours, deliveries are also signed with the old secret.',
  },
  deliveries: {
    title: 'Deliveries',
    loading: 'Loading deliveries',
    empty: 'No deliveries yet.',
    loadEarlier: 'Load earlier',
    states: {
      pending: 'Pending',
      delivered: 'Delivered',
      failed: 'Failed',
      retrying: 'Retrying',
    },
    attempts: 'Attempts',
    attemptErrors,
    attemptStatus: (status: number) => `status ${status}`,
    noResponse: 'no response',
    duration: (ms: number) => `${ms} ms`,
    nextAttempt: (time: string) => `Next attempt at ${time}`,
    body: 'Request body',
    sendNow: 'Send now',
    sendAgain: 'Send again',
    queued: 'Delivery queued.',
  },
};

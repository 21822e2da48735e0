import type { DueWork } from '../../realtime/feed/due-work.ts';
import { NO_REHEARSAL } from '../rehearsals/rehearsal-filter.ts';
import { logSealedEvents } from './event-log-sql.ts';
import type { WebhookEvent } from './webhook-events.ts';

/**
 * Logs the events of each sealing for webhooks, and the audience of streams on air whose producer
 * subscribed to `audience.minute`. Register it last: it logs what all other due work causes.
 */
export const webhookDueWork: DueWork<WebhookEvent> = {
  kind: 'on air',
  queries: [
    {
      streamId: 's.id',
      number: '0',
      from: `(select distinct account from subscriptions where type = 'audience.minute') w
       join streams s on s.producer = w.account and s.status = 'STREAMING' and s.${NO_REHEARSAL}
       where $4 = 1`,
    },
  ],
  afterSeal: (tx, { interval, nowMs, domainEvents, due, counts }) => {
    const onAir = due.map(({ streamId }) => streamId);
    return logSealedEvents(tx, { interval, nowMs, events: domainEvents, onAir, counts });
  },
};

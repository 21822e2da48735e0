import { ArrowLeft, Webhook as WebhookIcon } from 'lucide-react';
import { Link } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { Page } from '../shell/page.tsx';
import { dateTimeOf } from '../shell/times.ts';
import { Badge } from '../ui/badge.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { EVENT_LABELS, healthOf } from './webhook-labels.ts';

const POLL_MS = 3_000;

/** A webhook with its health, actions and deliveries. */
export function WebhookPage({ webhookId }: { readonly webhookId: string }) {
  const webhooks = useApiQuery('listWebhooks', {}, { refetchIntervalMs: POLL_MS });
  const webhook = webhooks.data?.results.find(({ id }) => id === webhookId);
  return (
    <Page
      title="Webhook"
      above={
        <Link
          href="/webhooks"
          className={`inline-flex min-h-8 items-center gap-1 justify-self-start text-quiet hover:text-text ${FOCUS_RING}`}
        >
          <ArrowLeft className="size-4" />
          All webhooks
        </Link>
      }
      actions={webhook && <WebhookActions webhook={webhook} />}
    >
      <Loaded query={webhooks} label="Loading webhook">
        {() =>
          webhook ? (
            <>
              <Facts webhook={webhook} />
              <DeliveryLog webhook={webhook} />
            </>
          ) : (
            <EmptyState icon={<WebhookIcon />} title="Webhook not found">
              The webhook may have been deleted. Choose another one under “All webhooks”.
            </EmptyState>
          )
        }
      </Loaded>
    </Page>
  );
}

function Facts({ webhook }: { readonly webhook: Webhook }) {
  const { url, events, created, failingSince } = webhook;
  const { variant, text, help } = healthOf(webhook);
  const facts = [
    ['Events', events.map((event) => EVENT_LABELS[event]).join(' · ')],
    ['Created', dateTimeOf(created)],
    ...(failingSince === null ? [] : [['Failing since', dateTimeOf(failingSince)]]),
  ];
  return (
    <section
      aria-label="About the webhook"
      className="grid gap-3 rounded-2xl border border-line bg-card p-4 *:min-w-0"
    >
      <div className="flex flex-wrap items-start justify-between gap-3">
        <p className="min-w-0 text-lg font-bold break-all">{url}</p>
        <Badge variant={variant}>{text}</Badge>
      </div>
      {help && <p className={variant === 'bad' ? 'text-bad' : 'text-quiet'}>{help}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

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
import { texts } from './texts.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { healthOf } from './webhook-labels.ts';

const POLL_MS = 3_000;

/** A webhook with its health, actions and deliveries. */
export function WebhookPage({ webhookId }: { readonly webhookId: string }) {
  const webhooks = useApiQuery('listWebhooks', {}, { refetchIntervalMs: POLL_MS });
  const webhook = webhooks.data?.results.find(({ id }) => id === webhookId);
  return (
    <Page
      title={texts.webhook.title}
      above={
        <Link
          href="/webhooks"
          className={`inline-flex min-h-8 items-center gap-1 justify-self-start text-quiet hover:text-text ${FOCUS_RING}`}
        >
          <ArrowLeft className="size-4" />
          {texts.webhook.all}
        </Link>
      }
      actions={webhook && <WebhookActions webhook={webhook} />}
    >
      <Loaded query={webhooks} label={texts.webhook.loading}>
        {() =>
          webhook ? (
            <>
              <Facts webhook={webhook} />
              <DeliveryLog webhook={webhook} />
            </>
          ) : (
            <EmptyState icon={<WebhookIcon />} title={texts.webhook.notFound}>
              {texts.webhook.notFoundHelp}
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
    [texts.webhook.facts.events, events.map((event) => texts.events[event]).join(' · ')],
    [texts.webhook.facts.created, dateTimeOf(created)],
    ...(failingSince === null
      ? []
      : [[texts.webhook.facts.failingSince, dateTimeOf(failingSince)]]),
  ];
  return (
    <section
      aria-label={texts.webhook.about}
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

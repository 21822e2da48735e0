import { ArrowLeft, Webhook as WebhookIcon } from 'lucide-react';
import { Link } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useRead } from '../api/use-read.ts';
import { Page } from '../shell/page.tsx';
import { dateOf } from '../shell/times.ts';
import { Badge } from '../ui/badge.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { healthOf, TYPE_WORDS } from './webhook-words.ts';

const AGAIN_MS = 3_000;

/** One webhook: how it is, what can be done with it, and what it was told. */
export function WebhookPage({ webhookId }: { readonly webhookId: string }) {
  const webhooks = useRead('listWebhooks', {}, { againMs: AGAIN_MS });
  const webhook = webhooks.data?.results.find(({ id }) => id === webhookId);
  return (
    <Page
      title="Webhook"
      above={
        <Link
          href="/webhooks"
          className={`inline-flex min-h-8 items-center gap-1 justify-self-start text-quiet hover:text-text ${FOCUS_RING}`}
        >
          <ArrowLeft className="size-4" aria-hidden="true" />
          All webhooks
        </Link>
      }
      actions={webhook && <WebhookActions webhook={webhook} />}
    >
      {webhooks.isPending && <Loading what="Looking for the webhook" />}
      {webhooks.isError && !webhooks.data && (
        <Failure error={webhooks.error} onAgain={() => webhooks.refetch()} />
      )}
      {webhooks.data && !webhook && (
        <Empty icon={<WebhookIcon aria-hidden="true" />} title="There is no such webhook">
          It was deleted, or the address is wrong.
        </Empty>
      )}
      {webhook && (
        <>
          <Facts webhook={webhook} />
          <DeliveryLog webhook={webhook} />
        </>
      )}
    </Page>
  );
}

function Facts({ webhook }: { readonly webhook: Webhook }) {
  const { url, events, created, failingSince } = webhook;
  const { look, text, help } = healthOf(webhook);
  const facts = [
    ['Is told', events.map((event) => TYPE_WORDS[event]).join(' · ')],
    ['Made', dateOf(created)],
    ...(failingSince === null ? [] : [['Fails since', dateOf(failingSince)]]),
  ];
  return (
    <section
      aria-label="About the webhook"
      className="grid gap-3 rounded-2xl border border-line bg-card p-4 *:min-w-0"
    >
      <div className="flex flex-wrap items-start justify-between gap-3">
        <p className="min-w-0 text-lg font-bold break-all">{url}</p>
        <Badge look={look}>{text}</Badge>
      </div>
      {help && <p className={look === 'bad' ? 'text-bad' : 'text-quiet'}>{help}</p>}
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

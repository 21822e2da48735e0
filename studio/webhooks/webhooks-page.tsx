import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { Link } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { Badge } from '../ui/badge.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { DialogButton } from '../ui/dialog.tsx';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { NewWebhook } from './webhook-dialogs.tsx';
import { EVENT_LABELS, healthOf } from './webhook-labels.ts';

const POLL_MS = 5_000;

export function WebhooksPage() {
  const webhooks = useApiQuery('listWebhooks', {}, { refetchIntervalMs: POLL_MS });
  const mayCreate = usePermission('createWebhook');
  return (
    <Page
      title="Webhooks"
      actions={
        mayCreate && (
          <DialogButton
            variant="primary"
            icon={<Plus />}
            title="New webhook"
            dialog={(close) => <NewWebhook onClose={close} />}
          >
            New webhook
          </DialogButton>
        )
      }
    >
      <p className="max-w-prose text-quiet">
        A webhook notifies your program of events in your shows, such as a start, the audience or
        the winners. Each delivery is signed. Failed ones are retried for about a day.
      </p>
      <Loaded query={webhooks} label="Loading webhooks">
        {({ results }) => <WebhookList webhooks={results} />}
      </Loaded>
    </Page>
  );
}

function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0) {
    return (
      <EmptyState icon={<WebhookIcon />} title="No webhooks yet">
        Create a webhook to notify one of your programs of events without polling.
      </EmptyState>
    );
  }
  return (
    <ul className="grid gap-3">
      {webhooks.map((webhook) => {
        const { variant, text } = healthOf(webhook);
        return (
          <li key={webhook.id}>
            <Link
              href={`/webhooks/${webhook.id}`}
              className={`grid gap-2 rounded-2xl border border-line bg-card p-4 hover:border-edge ${FOCUS_RING}`}
            >
              <span className="flex items-start justify-between gap-3">
                <span className="min-w-0 font-semibold break-all">{webhook.url}</span>
                <Badge variant={variant}>{text}</Badge>
              </span>
              <span className="text-sm text-quiet">
                {webhook.events.map((event) => EVENT_LABELS[event]).join(' · ')}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

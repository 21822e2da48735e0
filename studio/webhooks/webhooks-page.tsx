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
import { texts } from './texts.ts';
import { NewWebhook } from './webhook-dialogs.tsx';
import { healthOf } from './webhook-labels.ts';

const POLL_MS = 5_000;

export function WebhooksPage() {
  const webhooks = useApiQuery('listWebhooks', {}, { refetchIntervalMs: POLL_MS });
  const mayCreate = usePermission('createWebhook');
  return (
    <Page
      title={texts.list.title}
      actions={
        mayCreate && (
          <DialogButton
            variant="primary"
            icon={<Plus />}
            title={texts.list.create}
            dialog={(close) => <NewWebhook onClose={close} />}
          >
            {texts.list.create}
          </DialogButton>
        )
      }
    >
      <p className="max-w-prose text-quiet">{texts.list.explanation}</p>
      <Loaded query={webhooks} label={texts.list.loading}>
        {({ results }) => <WebhookList webhooks={results} />}
      </Loaded>
    </Page>
  );
}

function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0) {
    return (
      <EmptyState icon={<WebhookIcon />} title={texts.list.emptyTitle}>
        {texts.list.emptyHelp}
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
                {webhook.events.map((event) => texts.events[event]).join(' · ')}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useRead } from '../api/use-read.ts';
import { useMay } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { NewWebhookDialog } from './webhook-dialogs.tsx';
import { healthOf, TYPE_WORDS } from './webhook-words.ts';

const AGAIN_MS = 5_000;

/** The programs that are told what happens in the account's shows. */
export function WebhooksPage() {
  const webhooks = useRead('listWebhooks', {}, { againMs: AGAIN_MS });
  const [isMaking, setMaking] = useState(false);
  const mayMake = useMay('createWebhook');
  return (
    <Page
      title="Webhooks"
      actions={
        mayMake && (
          <Button look="primary" onPress={() => setMaking(true)}>
            <Plus aria-hidden="true" />
            New webhook
          </Button>
        )
      }
    >
      <p className="max-w-prose text-quiet">
        A webhook tells a program of yours what happens in your shows: that one begins, how many
        watch, who won. Each message is signed, and sent again until it arrives.
      </p>
      {webhooks.isPending && <Loading what="Looking for your webhooks" />}
      {webhooks.isError && !webhooks.data && (
        <Failure error={webhooks.error} onAgain={() => webhooks.refetch()} />
      )}
      {webhooks.data?.results.length === 0 && (
        <Empty icon={<WebhookIcon aria-hidden="true" />} title="No webhooks yet">
          Make one when a program of yours is to know what happens, without asking.
        </Empty>
      )}
      {webhooks.data && <WebhookList webhooks={webhooks.data.results} />}
      <NewWebhookDialog isOpen={isMaking} onOpenChange={setMaking} />
    </Page>
  );
}

function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  return (
    <ul className="grid gap-3">
      {webhooks.map((webhook) => {
        const { look, text } = healthOf(webhook);
        return (
          <li key={webhook.id}>
            <Link
              href={`/webhooks/${webhook.id}`}
              className={`grid gap-2 rounded-2xl border border-line bg-card p-4 hover:border-edge ${FOCUS_RING}`}
            >
              <span className="flex items-start justify-between gap-3">
                <span className="min-w-0 font-semibold break-all">{webhook.url}</span>
                <Badge look={look}>{text}</Badge>
              </span>
              <span className="text-sm text-quiet">
                {webhook.events.map((event) => TYPE_WORDS[event]).join(' · ')}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

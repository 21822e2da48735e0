import { ChevronRight, RotateCcw } from 'lucide-react';
import { Disclosure, DisclosurePanel, Heading, Button as PlainButton } from 'react-aria-components';
import type { Attempt, Delivery, Webhook } from '../../protocol/webhooks.ts';
import { useWrite } from '../api/use-write.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { useDeliveries } from './use-deliveries.ts';
import { attemptWords, TYPE_WORDS } from './webhook-words.ts';

const TIME = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});
const STATES = {
  pending: { look: 'accent', text: 'On its way' },
  delivered: { look: 'good', text: 'Arrived' },
  failed: { look: 'bad', text: 'Failed' },
} as const;
/** It did not arrive yet, and will be sent again. */
const AGAIN = { look: 'bad', text: 'Trying again' } as const;

/** What a webhook was told, the newest first, with what came of it. */
export function DeliveryLog({ webhook }: { readonly webhook: Webhook }) {
  const log = useDeliveries(webhook.id);
  return (
    <Panel title="Sent">
      {log.isPending && <Loading what="Looking for what was sent" />}
      {log.error !== null && log.deliveries.length === 0 && (
        <Failure error={log.error} onAgain={log.again} />
      )}
      {log.isEmpty && <p className="text-quiet">Nothing was sent yet.</p>}
      {log.deliveries.length > 0 && (
        <ul className="grid divide-y divide-line">
          {log.deliveries.map((delivery) => (
            <li key={delivery.id}>
              <DeliveryLine webhook={webhook} delivery={delivery} />
            </li>
          ))}
        </ul>
      )}
      {log.isMore && (
        <Button look="quiet" isPending={log.isFetchingMore} onPress={log.fetchMore}>
          Earlier
        </Button>
      )}
    </Panel>
  );
}

interface DeliveryLineProps {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

function DeliveryLine({ webhook, delivery }: DeliveryLineProps) {
  const { type, state, created, attempts } = delivery;
  const isAgain = state === 'pending' && attempts.length > 0;
  const { look, text } = isAgain ? AGAIN : STATES[state];
  return (
    <Disclosure className="group">
      <Heading level={3}>
        <PlainButton
          slot="trigger"
          className={`flex min-h-11 w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-lg py-2 text-left ${FOCUS_RING}`}
        >
          <ChevronRight
            className="size-4 shrink-0 group-expanded:rotate-90 motion-safe:transition-transform"
            aria-hidden="true"
          />
          <span className="min-w-0 flex-1 font-semibold">{TYPE_WORDS[type]}</span>
          <Badge look={look}>{text}</Badge>
          <span className="w-full pl-7 text-sm text-quiet tabular-nums sm:w-auto sm:pl-0">
            {TIME.format(created)}
          </span>
        </PlainButton>
      </Heading>
      <DisclosurePanel className="grid gap-4 *:min-w-0">
        <Attempts delivery={delivery} />
        <Body body={delivery.body} />
        {webhook.enabled && <Retry webhook={webhook} delivery={delivery} />}
        <p className="pb-4 text-sm text-quiet">
          <code className="break-all">webhook-id: {delivery.id}</code>
        </p>
      </DisclosurePanel>
    </Disclosure>
  );
}

function Attempts({ delivery: { attempts, nextAttempt } }: Pick<DeliveryLineProps, 'delivery'>) {
  return (
    <div className="grid gap-1 text-sm">
      {attempts.length > 0 && (
        <ol aria-label="Attempts" className="grid gap-1">
          {attempts.map((attempt) => (
            <AttemptLine key={attempt.at} attempt={attempt} />
          ))}
        </ol>
      )}
      {nextAttempt !== null && (
        <p className="text-quiet tabular-nums">Tried next at {TIME.format(nextAttempt)}</p>
      )}
    </div>
  );
}

function AttemptLine({ attempt }: { readonly attempt: Attempt }) {
  return (
    <li className="flex flex-wrap gap-x-3 tabular-nums">
      <span className="text-quiet">{TIME.format(attempt.at)}</span>
      <span>{attemptWords(attempt)}</span>
      <span className="text-quiet">{attempt.ms} ms</span>
    </li>
  );
}

/** What was sent, laid out for people. */
function Body({ body }: { readonly body: string }) {
  return (
    <section
      aria-label="What is sent"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
      className={`max-h-72 overflow-auto rounded-lg bg-raised p-3 text-sm ${FOCUS_RING}`}
    >
      <pre>{JSON.stringify(JSON.parse(body), null, 2)}</pre>
    </section>
  );
}

function Retry({ webhook, delivery }: DeliveryLineProps) {
  const { write, isPending } = useWrite('retryDelivery', {
    stale: ['listDeliveries'],
    onDone: () => tellDone('It is sent again.'),
  });
  const params = { webhook_id: webhook.id, delivery_id: delivery.id };
  return (
    <div>
      <Button isPending={isPending} onPress={() => write({ params })}>
        <RotateCcw aria-hidden="true" />
        {delivery.state === 'pending' ? 'Send it now' : 'Send it again'}
      </Button>
    </div>
  );
}

import { ChevronRight, RotateCcw } from 'lucide-react';
import { Disclosure, DisclosurePanel, Heading, Button as PlainButton } from 'react-aria-components';
import type { Attempt, Delivery, Webhook } from '../../protocol/webhooks.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { ErrorMessage, Loading } from '../ui/states.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';
import { useDeliveries } from './use-deliveries.ts';
import { attemptLabel } from './webhook-labels.ts';

const TIME = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});
/** The header of a request with the id of its delivery. */
const WEBHOOK_ID = 'webhook-id';
const STATES = {
  pending: { variant: 'accent', text: texts.deliveries.states.pending },
  delivered: { variant: 'good', text: texts.deliveries.states.delivered },
  failed: { variant: 'bad', text: texts.deliveries.states.failed },
} as const;
/** A failed delivery that will be retried. */
const RETRYING = { variant: 'bad', text: texts.deliveries.states.retrying } as const;

/** The deliveries of a webhook, newest first, with their attempts. */
export function DeliveryLog({ webhook }: { readonly webhook: Webhook }) {
  const log = useDeliveries(webhook.id);
  return (
    <Panel title={texts.deliveries.title}>
      {log.isPending && <Loading label={texts.deliveries.loading} />}
      {log.error !== null && log.deliveries.length === 0 && (
        <ErrorMessage error={log.error} onRetry={log.retry} />
      )}
      {log.isEmpty && <p className="text-quiet">{texts.deliveries.empty}</p>}
      {log.deliveries.length > 0 && (
        <ul className="grid divide-y divide-line">
          {log.deliveries.map((delivery) => (
            <li key={delivery.id}>
              <DeliveryItem webhook={webhook} delivery={delivery} />
            </li>
          ))}
        </ul>
      )}
      {log.hasMore && (
        <Button variant="quiet" isPending={log.isFetchingMore} onPress={log.fetchMore}>
          {texts.deliveries.loadEarlier}
        </Button>
      )}
    </Panel>
  );
}

interface DeliveryItemProps {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

function DeliveryItem({ webhook, delivery }: DeliveryItemProps) {
  const { type, state, created, attempts } = delivery;
  const isRetrying = state === 'pending' && attempts.length > 0;
  const { variant, text } = isRetrying ? RETRYING : STATES[state];
  return (
    <Disclosure className="group">
      <Heading level={3}>
        <PlainButton
          slot="trigger"
          className={`flex min-h-11 w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-lg py-2 text-left ${FOCUS_RING}`}
        >
          <ChevronRight className="size-4 shrink-0 group-expanded:rotate-90 motion-safe:transition-transform" />
          <span className="min-w-0 flex-1 font-semibold">{texts.events[type]}</span>
          <Badge variant={variant}>{text}</Badge>
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
          <code className="break-all">
            {WEBHOOK_ID}: {delivery.id}
          </code>
        </p>
      </DisclosurePanel>
    </Disclosure>
  );
}

function Attempts({ delivery: { attempts, nextAttempt } }: Pick<DeliveryItemProps, 'delivery'>) {
  return (
    <div className="grid gap-1 text-sm">
      {attempts.length > 0 && (
        <ol aria-label={texts.deliveries.attempts} className="grid gap-1">
          {attempts.map((attempt) => (
            <AttemptItem key={attempt.at} attempt={attempt} />
          ))}
        </ol>
      )}
      {nextAttempt !== null && (
        <p className="text-quiet tabular-nums">
          {texts.deliveries.nextAttempt(TIME.format(nextAttempt))}
        </p>
      )}
    </div>
  );
}

function AttemptItem({ attempt }: { readonly attempt: Attempt }) {
  return (
    <li className="flex flex-wrap gap-x-3 tabular-nums">
      <span className="text-quiet">{TIME.format(attempt.at)}</span>
      <span>{attemptLabel(attempt)}</span>
      <span className="text-quiet">{texts.deliveries.duration(attempt.ms)}</span>
    </li>
  );
}

function Body({ body }: { readonly body: string }) {
  return (
    <section
      aria-label={texts.deliveries.body}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      className={`max-h-72 overflow-auto rounded-lg bg-raised p-3 text-sm ${FOCUS_RING}`}
    >
      <pre>{JSON.stringify(JSON.parse(body), null, 2)}</pre>
    </section>
  );
}

function Retry({ webhook, delivery }: DeliveryItemProps) {
  const { mutate, isPending } = useApiMutation('retryDelivery', {
    invalidates: ['listDeliveries'],
    onSuccess: () => showSuccess(texts.deliveries.queued),
  });
  const params = { webhook_id: webhook.id, delivery_id: delivery.id };
  return (
    <div>
      <Button isPending={isPending} onPress={() => mutate({ params })} icon={<RotateCcw />}>
        {delivery.state === 'pending' ? texts.deliveries.sendNow : texts.deliveries.sendAgain}
      </Button>
    </div>
  );
}

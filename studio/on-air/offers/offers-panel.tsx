import { RotateCcw } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import type { Product } from '../../../protocol/products.ts';
import { type ProducerEvent, producerEventSchema } from '../../../protocol/studio.ts';
import { useApiMutation } from '../../api/use-api-mutation.ts';
import { CROWD_PAUSE_MS, useApiQuery } from '../../api/use-api-query.ts';
import { ProductList } from '../../products/product-list.tsx';
import { texts as productTexts } from '../../products/texts.ts';
import { usePermission } from '../../session/session-context.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { TextTemplate } from '../../ui/text-template.tsx';
import type { ShowLog } from '../show-log.ts';
import { useEarlierSent } from '../use-history.ts';
import { useIsSettled } from '../use-press-guard.ts';
import { eventLabel, recentEvents, requestOf } from './offer.ts';
import { CustomEventForm, DiscountForm, PurchaseForm } from './offer-forms.tsx';
import { Purchases } from './purchases.tsx';
import { texts } from './texts.ts';

type Offer = 'discount' | 'purchase' | 'own';

const OFFERS: readonly { readonly id: Offer; readonly text: string }[] = [
  { id: 'discount', text: texts.kinds.discount },
  { id: 'purchase', text: texts.kinds.purchase },
  { id: 'own', text: texts.kinds.own },
];
const FORMS = { discount: DiscountForm, purchase: PurchaseForm, own: CustomEventForm };

interface OffersPanelProps {
  readonly state: LiveState;
  readonly log: ShowLog;
  /** Whether the connection is up; else buttons are disabled. */
  readonly isConnected: boolean;
}

/** Shows products, sends discounts, purchases and custom events, and lists purchases. */
export function OffersPanel({ state, log, isConnected }: OffersPanelProps) {
  const maySend = usePermission('sendEvent');
  const isOver = state.stream.status === 'ENDED';
  const streamId = state.stream.id;
  const query = useApiQuery(
    'listProducts',
    { params: { stream_id: streamId } },
    { revision: state.productsRevision, revisionPauseMs: CROWD_PAUSE_MS },
  );
  const products = query.data?.results ?? [];
  return (
    <Panel
      title={texts.title}
      aside={
        <span className="text-sm text-quiet tabular-nums">
          {texts.discountsSinceOpened(log.discounts)}
        </span>
      }
    >
      <Loaded query={query} label={productTexts.loading}>
        {() => <ProductList streamId={streamId} products={products} isConnected={isConnected} />}
      </Loaded>
      {maySend && !isOver && (
        <div className="grid gap-4 border-t border-line pt-3 *:min-w-0">
          <SendForms streamId={streamId} products={products} log={log} isConnected={isConnected} />
        </div>
      )}
      <Purchases streamId={streamId} log={log} />
    </Panel>
  );
}

interface SendFormsProps {
  readonly streamId: string;
  readonly products: readonly Product[];
  readonly log: ShowLog;
  readonly isConnected: boolean;
}

function SendForms({ streamId, products, log, isConnected }: SendFormsProps) {
  const [offer, setOffer] = useState<Offer>('discount');
  /** Events sent from this page, newest first. */
  const [sent, setSent] = useState<readonly ProducerEvent[]>([]);
  /** Label of the event that was sent last. */
  const [lastLabel, setLastLabel] = useState('');
  const afterSent = useRef(() => {});
  const { mutate, isPending } = useApiMutation('sendEvent', {
    onSuccess: (_, { body }) => {
      const event = producerEventSchema.parse(body);
      setSent((before) => [event, ...before]);
      afterSent.current();
    },
  });
  const isSettled = useIsSettled(String(sent.length));
  const send = (event: ProducerEvent, onSent = () => {}) => {
    if (isPending || !isSettled) return;
    afterSent.current = onSent;
    setLastLabel(eventLabel(event));
    mutate({ params: { stream_id: streamId }, body: requestOf(event) });
  };
  // A pending button keeps the focus; a disabled one loses it.
  const isBusy = isPending || (!isSettled && sent.length > 0);
  const Form = FORMS[offer];
  return (
    <>
      <Tabs label={texts.kinds.label} tabs={OFFERS} selected={offer} onSelect={setOffer}>
        <Form products={products} isConnected={isConnected} isBusy={isBusy} onSend={send} />
      </Tabs>
      <p role="status" className="text-sm text-quiet empty:hidden">
        {sent[0] && (
          <TextTemplate text={texts.sent}>
            <EventWords event={sent[0]} />
          </TextTemplate>
        )}
      </p>
      <RecentEvents
        streamId={streamId}
        sent={sent}
        log={log}
        isConnected={isConnected}
        busyLabel={isBusy ? lastLabel : null}
        onSend={send}
      />
    </>
  );
}

interface RecentEventsProps {
  readonly streamId: string;
  readonly sent: readonly ProducerEvent[];
  readonly log: ShowLog;
  readonly isConnected: boolean;
  /** Label of the event being sent, or sent a moment ago; null: none. */
  readonly busyLabel: string | null;
  readonly onSend: (event: ProducerEvent) => void;
}

/** Events from this page and custom events from anyone, to send again with one press. */
function RecentEvents({ streamId, sent, log, isConnected, busyLabel, onSend }: RecentEventsProps) {
  const earlier = useEarlierSent(streamId, log.firstInterval);
  const all = useMemo(
    () =>
      recentEvents([
        ...sent,
        ...log.sent.toReversed().map(({ event }) => event),
        ...earlier.sent.map(({ event }) => event),
      ]),
    [sent, log.sent, earlier.sent],
  );
  if (all.length === 0) return null;
  return (
    <div className="grid gap-2 border-t border-line pt-3">
      <h3 className="text-sm font-semibold">{texts.sendAgain}</h3>
      <ul className="flex flex-wrap gap-2 *:min-w-0">
        {all.map((event) => {
          const label = eventLabel(event);
          return (
            <li key={label}>
              <Button
                isDisabled={!isConnected || (busyLabel !== null && busyLabel !== label)}
                isPending={busyLabel === label}
                aria-label={texts.sendAgainLabel(label)}
                onPress={() => onSend(event)}
              >
                {busyLabel !== label && <RotateCcw />}
                <span className="max-w-64 truncate font-normal">
                  <EventWords event={event} />
                </span>
              </Button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The label of an event, with the words of people isolated. */
function EventWords({ event }: { readonly event: ProducerEvent }) {
  if (event.type !== 'purchase') return <bdi>{eventLabel(event)}</bdi>;
  return (
    <>
      <bdi>{String(event.data?.name || texts.purchases.anonymous)}</bdi>{' '}
      <bdi>{String(event.data?.text)}</bdi>
    </>
  );
}

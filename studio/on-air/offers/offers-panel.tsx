import { RotateCcw } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import { type ProducerEvent, producerEventSchema } from '../../../protocol/studio.ts';
import { useWrite } from '../../api/use-write.ts';
import { useMay } from '../../session/session-context.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { ShowRecord } from '../show-record.ts';
import { useArmed } from '../use-armed.ts';
import { useEarlierSent } from '../use-history.ts';
import { bodyOf, discountWords, lately, wordsOf } from './offer.ts';
import { DiscountForm, OwnEventForm, PurchaseForm } from './offer-forms.tsx';
import { Purchases } from './purchases.tsx';

type Offer = 'discount' | 'purchase' | 'own';

const OFFERS: readonly { readonly id: Offer; readonly text: string }[] = [
  { id: 'discount', text: 'Discounts' },
  { id: 'purchase', text: 'Purchase' },
  { id: 'own', text: 'Own event' },
];
const FORMS = { discount: DiscountForm, purchase: PurchaseForm, own: OwnEventForm };

interface OffersPanelProps {
  readonly state: LiveState;
  readonly record: ShowRecord;
  /** What is shown is how it is; else nothing can be pressed. */
  readonly isHeard: boolean;
}

/** What is sold in the show, and what an app of the producer's own is told by it. */
export function OffersPanel({ state, record, isHeard }: OffersPanelProps) {
  const maySend = useMay('sendEvent');
  const isOver = state.stream.status === 'ENDED';
  return (
    <Panel
      title="Sell and send"
      aside={
        <span className="text-sm text-quiet tabular-nums">
          {discountWords(record.discounts)} since this page was opened
        </span>
      }
    >
      {maySend && !isOver && (
        <Sending streamId={state.stream.id} record={record} isHeard={isHeard} />
      )}
      <Purchases streamId={state.stream.id} record={record} />
    </Panel>
  );
}

interface SendingProps {
  readonly streamId: string;
  readonly record: ShowRecord;
  readonly isHeard: boolean;
}

function Sending({ streamId, record, isHeard }: SendingProps) {
  const [offer, setOffer] = useState<Offer>('discount');
  /** What was sent from here, the newest first. */
  const [sent, setSent] = useState<readonly ProducerEvent[]>([]);
  /** What was pressed last, in words. */
  const [pressed, setPressed] = useState('');
  const afterSent = useRef(() => {});
  const { write, isPending } = useWrite('sendEvent', {
    onDone: (_, { body }) => {
      const event = producerEventSchema.parse(body);
      setSent((before) => [event, ...before]);
      afterSent.current();
    },
  });
  const isArmed = useArmed(String(sent.length));
  const send = (event: ProducerEvent, onSent = () => {}) => {
    if (isPending || !isArmed) return;
    afterSent.current = onSent;
    setPressed(wordsOf(event));
    write({ params: { stream_id: streamId }, body: bodyOf(event) });
  };
  // A button that is pending keeps the focus, one that is disabled loses it.
  const isBusy = isPending || (!isArmed && sent.length > 0);
  const Form = FORMS[offer];
  return (
    <>
      <Tabs label="What to send" tabs={OFFERS} selected={offer} onSelect={setOffer}>
        <Form isHeard={isHeard} isBusy={isBusy} onSend={send} />
      </Tabs>
      <p role="status" className="text-sm text-quiet empty:hidden">
        {sent[0] && `Sent: ${wordsOf(sent[0])}`}
      </p>
      <SentLately
        streamId={streamId}
        sent={sent}
        record={record}
        isHeard={isHeard}
        busy={isBusy ? pressed : null}
        onSend={send}
      />
    </>
  );
}

interface SentLatelyProps {
  readonly streamId: string;
  readonly sent: readonly ProducerEvent[];
  readonly record: ShowRecord;
  readonly isHeard: boolean;
  /** What is being sent, or was a moment ago; null: nothing. */
  readonly busy: string | null;
  readonly onSend: (event: ProducerEvent) => void;
}

/** What was sent from here, and events of their own that anybody sent: once more with one press. */
function SentLately({ streamId, sent, record, isHeard, busy, onSend }: SentLatelyProps) {
  const earlier = useEarlierSent(streamId, record.first);
  const all = useMemo(
    () =>
      lately([
        ...sent,
        ...record.sent.toReversed().map(({ event }) => event),
        ...earlier.sent.map(({ event }) => event),
      ]),
    [sent, record.sent, earlier.sent],
  );
  if (all.length === 0) return null;
  return (
    <div className="grid gap-2 border-t border-line pt-3">
      <h3 className="text-sm font-semibold">Once more</h3>
      <ul className="flex flex-wrap gap-2 *:min-w-0">
        {all.map((event) => {
          const words = wordsOf(event);
          return (
            <li key={words}>
              <Button
                isDisabled={!isHeard || (busy !== null && busy !== words)}
                isPending={busy === words}
                aria-label={`Send again: ${words}`}
                onPress={() => onSend(event)}
              >
                {busy !== words && <RotateCcw aria-hidden="true" />}
                <span className="max-w-64 truncate font-normal">{words}</span>
              </Button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

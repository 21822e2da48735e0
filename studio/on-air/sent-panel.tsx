import type { ToldEvent } from '../../protocol/history.ts';
import { timeOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { slowWords } from './chat/slow-words.ts';
import type { ShowRecord } from './show-record.ts';
import { useEarlierSent } from './use-history.ts';

interface SentPanelProps {
  readonly streamId: string;
  readonly record: ShowRecord;
}

/** Everything that viewers were sent, newest first, with the interval it is in. */
export function SentPanel({ streamId, record }: SentPanelProps) {
  const earlier = useEarlierSent(streamId, record.first);
  const sent = [...record.sent.toReversed(), ...earlier.sent];
  return (
    <Panel title="Sent">
      {sent.length === 0 ? (
        <p className="text-quiet">
          {earlier.isFetching ? 'Looking …' : earlier.isMore ? 'Nothing lately.' : 'Nothing yet.'}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        <ol className="grid max-h-72 gap-1 overflow-y-auto" tabIndex={0} aria-label="Sent events">
          {sent.map(({ id, atMs, interval, event }) => (
            <li key={id} className="flex flex-wrap gap-x-3 text-sm">
              <span className="shrink-0 text-quiet tabular-nums" title={`Interval ${interval}`}>
                {timeOf(atMs)}
              </span>
              {/* Where there is little room, below its time. */}
              <span className="min-w-40 flex-1 break-words max-2xl:order-last max-2xl:basis-full">
                {wordsOf(event)}
              </span>
              <span className="ml-auto shrink-0 text-quiet tabular-nums">{interval}</span>
            </li>
          ))}
        </ol>
      )}
      {earlier.isMore && (
        <Button look="quiet" isPending={earlier.isFetching} onPress={earlier.fetchMore}>
          Earlier
        </Button>
      )}
    </Panel>
  );
}

/** What is said of some of the data of events. */
interface Told {
  readonly question?: string;
  readonly count?: number;
  readonly paused?: boolean;
  readonly slowModeMs?: number;
  readonly ids?: readonly string[];
  readonly line?: { readonly text: string } | null;
  readonly purchases?: readonly { readonly name: string; readonly text: string }[];
  readonly discounts?: number;
}

function wordsOf({ type, data }: ToldEvent): string {
  const told = data as Told | null;
  switch (type) {
    case 'quiz':
      return `Quiz: ${told?.question}`;
    case 'quiz-results':
      return `Results: ${told?.question}`;
    case 'request-quiz-winners':
      return 'Winners were asked for';
    case 'quiz-winners':
      return `Winners: ${told?.count}`;
    case 'chats':
      return soldWords(told);
    case 'chat-mode':
      return `Chat: ${told?.paused ? 'paused' : slowWords(told?.slowModeMs ?? 0)}`;
    case 'chat-hidden':
      return `Hidden: ${told?.ids?.length} ${told?.ids?.length === 1 ? 'line' : 'lines'}`;
    case 'chat-pinned':
      return told?.line ? `Pinned: ${told.line.text}` : 'Pinned: nothing';
    default:
      return type;
  }
}

function soldWords(told: Told | null): string {
  const bought = (told?.purchases ?? []).map(({ name, text }) => `${name} ${text}`.trim());
  return [
    ...(bought.length > 0 ? [`Purchases: ${bought.join(', ')}`] : []),
    ...(told?.discounts ? [`Discounts: ${told.discounts}`] : []),
  ].join(' · ');
}

import { Fragment, type ReactNode, useState } from 'react';
import type { LoggedEvent } from '../../protocol/chat-messages.ts';
import { timeOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING, VIEWER_WORDS } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { slowModeLabel } from './chat/slow-mode-label.ts';
import type { ShowLog } from './show-log.ts';
import { texts } from './texts.ts';
import { useEarlierSent } from './use-history.ts';

/** All events that viewers received, newest first, with their times. */
export function SentPanel({ streamId, log }: { streamId: string; log: ShowLog }) {
  const earlier = useEarlierSent(streamId, log.firstInterval);
  const [showsIntervals, setShowsIntervals] = useState(false);
  const sent = [...log.sent.toReversed(), ...earlier.sent];
  return (
    <Panel title={texts.sent.title}>
      {sent.length === 0 ? (
        <p className="text-quiet">
          {earlier.isFetching
            ? texts.sent.loading
            : earlier.hasMore
              ? texts.sent.noneRecently
              : texts.sent.none}
        </p>
      ) : (
        <ol
          className="grid max-h-72 gap-1 overflow-y-auto"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
          tabIndex={0}
          aria-label={texts.sent.list}
        >
          {sent.map(({ id, atMs, interval, event }) => (
            <li key={id} className="flex flex-wrap gap-x-3 text-sm">
              <span className="shrink-0 text-quiet tabular-nums">{timeOf(atMs)}</span>
              <span className={`min-w-40 flex-1 ${VIEWER_WORDS}`}>{labelOf(event)}</span>
              {showsIntervals && (
                <span className="text-quiet tabular-nums">{texts.sent.interval(interval)}</span>
              )}
            </li>
          ))}
        </ol>
      )}
      {earlier.hasMore && (
        <Button variant="quiet" isPending={earlier.isFetching} onPress={earlier.fetchMore}>
          {texts.sent.loadEarlier}
        </Button>
      )}
      <details className="text-sm">
        <summary className={`min-h-8 cursor-pointer content-center text-quiet ${FOCUS_RING}`}>
          {texts.sent.diagnostics}
        </summary>
        <Switch
          label={texts.sent.showIntervals}
          isSelected={showsIntervals}
          onChange={setShowsIntervals}
        />
      </details>
    </Panel>
  );
}

/** The event data that labels use. */
interface EventData {
  readonly question?: string;
  readonly count?: number;
  readonly paused?: boolean;
  readonly slowModeMs?: number;
  readonly ids?: readonly string[];
  readonly line?: { readonly text: string } | null;
  readonly purchases?: readonly { readonly name: string; readonly text: string }[];
  readonly discounts?: number;
  readonly name?: string;
}

const { events } = texts.sent;

function labelOf({ type, data }: LoggedEvent): ReactNode {
  const fields = data as EventData | null;
  switch (type) {
    case 'quiz':
      return labelWith(events.quiz, fields?.question);
    case 'quiz-results':
      return labelWith(events.results, fields?.question);
    case 'request-quiz-winners':
      return events.winnersRequested;
    case 'quiz-winners':
      return events.winners(fields?.count ?? 0);
    case 'chats':
      return salesLabel(fields);
    case 'chat-mode':
      return fields?.paused
        ? events.chatPaused
        : events.chatMode(slowModeLabel(fields?.slowModeMs ?? 0));
    case 'chat-hidden':
      return events.hidden(fields?.ids?.length ?? 0);
    case 'winner-contact':
      return events.contactsAsked;
    case 'product':
      return fields ? labelWith(events.product, fields.name) : events.productHidden;
    case 'chat-pinned':
      return fields?.line ? labelWith(events.pinned, fields.line.text) : events.unpinned;
    default:
      return type;
  }
}

function labelWith(text: string, words = ''): ReactNode {
  return (
    <TextTemplate text={text}>
      <bdi>{words}</bdi>
    </TextTemplate>
  );
}

function salesLabel(fields: EventData | null): ReactNode {
  const { purchases = [], discounts = 0 } = fields ?? {};
  return (
    <>
      {purchases.length > 0 && (
        <TextTemplate text={events.purchases}>
          {purchases.map(({ name, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: purchases of an event have no id and never change
            <Fragment key={index}>
              {index > 0 && ', '}
              {name !== '' && <bdi>{name}</bdi>} <bdi>{text}</bdi>
            </Fragment>
          ))}
        </TextTemplate>
      )}
      {purchases.length > 0 && discounts > 0 && ' · '}
      {discounts > 0 && events.discounts(discounts)}
    </>
  );
}

import { useMemo } from 'react';
import { VIEWER_WORDS } from '../../ui/classes.ts';
import type { ShowLog } from '../show-log.ts';
import { useEarlierPurchases } from '../use-history.ts';
import { texts } from './texts.ts';

/** Entries that the list shows; the chat has all. */
const VISIBLE_MAX = 200;

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Purchases as viewers saw them, newest first. */
export function Purchases({ streamId, log }: { streamId: string; log: ShowLog }) {
  const earlier = useEarlierPurchases(streamId, log.firstInterval);
  const purchases = useMemo(() => {
    const received = log.messages.filter(({ kind }) => kind === 'purchase');
    return [...received.toReversed(), ...earlier].slice(0, VISIBLE_MAX);
  }, [log.messages, earlier]);
  return (
    <div className="grid gap-2 border-t border-line pt-3">
      <h3 className="text-sm font-semibold">{texts.purchases.title}</h3>
      {purchases.length === 0 ? (
        <p className="text-quiet">{texts.purchases.empty}</p>
      ) : (
        <ol
          className="grid max-h-56 gap-1 overflow-y-auto"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
          tabIndex={0}
          aria-label={texts.purchases.title}
        >
          {purchases.map(({ id, name, text, at }) => (
            <li key={id} className="flex gap-3 text-sm">
              <span className="shrink-0 text-quiet tabular-nums">{TIME.format(at)}</span>
              <span className={`min-w-0 ${VIEWER_WORDS}`}>
                <bdi className="font-semibold">{name || texts.purchases.anonymous}</bdi>{' '}
                <bdi>{text}</bdi>
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

import { useMemo } from 'react';
import type { ShowRecord } from '../show-record.ts';
import { useEarlierPurchases } from '../use-history.ts';

/** As many as somebody reads; the chat has all. */
const SHOWN = 200;

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

interface PurchasesProps {
  readonly streamId: string;
  readonly record: ShowRecord;
}

/** What was bought, as viewers were told: the newest first. */
export function Purchases({ streamId, record }: PurchasesProps) {
  const earlier = useEarlierPurchases(streamId, record.first);
  const all = useMemo(() => {
    const here = record.lines.filter(({ kind }) => kind === 'purchase');
    return [...here.toReversed(), ...earlier].slice(0, SHOWN);
  }, [record.lines, earlier]);
  return (
    <div className="grid gap-2 border-t border-line pt-3">
      <h3 className="text-sm font-semibold">Purchases</h3>
      {all.length === 0 ? (
        <p className="text-quiet">Nobody has bought anything yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        <ol className="grid max-h-56 gap-1 overflow-y-auto" tabIndex={0} aria-label="Purchases">
          {all.map(({ id, name, text, at }) => (
            <li key={id} className="flex gap-3 text-sm">
              <span className="shrink-0 text-quiet tabular-nums">{TIME.format(at)}</span>
              <span className="min-w-0 break-words">
                <span className="font-semibold">{name || 'Somebody'}</span> {text}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

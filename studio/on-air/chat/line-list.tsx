import { useRef } from 'react';
import type { PressEvent } from 'react-aria-components';
import { flushSync } from 'react-dom';
import type { LineKind } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { useHold } from '../../ui/use-hold.ts';
import type { ShowRecord } from '../show-record.ts';
import type { EarlierLines } from '../use-history.ts';
import { type LineHands, Lines } from './lines.tsx';
import { useShownLines } from './use-shown-lines.ts';

interface LineListProps {
  readonly streamId: string;
  readonly record: ShowRecord;
  /** Lines of this kind alone; null: all. */
  readonly kind: LineKind | null;
  readonly hands: LineHands;
  /** What is said when there are none. */
  readonly nothing: string;
}

/** The lines of the chat, from the newest back to the first. */
export function LineList({ streamId, record, kind, hands, nothing }: LineListProps) {
  const place = useRef<HTMLDivElement>(null);
  const { isHeld, letGo, listeners } = useHold();
  const shown = useShownLines(streamId, record, kind, isHeld);
  const { lines, earlier, onNearEnd, fresh, catchUp } = shown;
  const toNewest = ({ pointerType }: PressEvent) => {
    flushSync(() => {
      letGo();
      catchUp();
    });
    place.current?.scrollTo({ top: 0 });
    // Whoever uses a mouse wants to see them come; whoever uses keys is somewhere in the page.
    if (pointerType === 'keyboard') place.current?.querySelector('article')?.focus();
  };
  return (
    <div className="grid gap-1" {...listeners}>
      <div className="flex min-h-11 items-center justify-between gap-3 text-sm text-quiet">
        Newest first
        {fresh > 0 && (
          <Button onPress={toNewest}>
            {fresh.toLocaleString()} new {fresh === 1 ? 'line' : 'lines'}
          </Button>
        )}
      </div>
      <Lines
        placeRef={place}
        label="Lines, newest first"
        lines={lines}
        hands={hands}
        isMore={earlier.isMore}
        onNearEnd={onNearEnd}
        end={<End earlier={earlier} nothing={lines.length === 0 ? nothing : null} />}
      />
    </div>
  );
}

interface EndProps {
  readonly earlier: EarlierLines;
  /** What is said when there is no line at all; null: there are some. */
  readonly nothing: string | null;
}

function End({ earlier: { isMore, isFetching, isError, fetchMore }, nothing }: EndProps) {
  if (isError && !isFetching) {
    return (
      <p className="flex flex-wrap items-center gap-3 p-2 text-quiet">
        Earlier lines could not be had.
        <Button onPress={fetchMore}>Try again</Button>
      </p>
    );
  }
  if (isFetching || isMore) return <p className="p-2 text-quiet">Looking for earlier lines …</p>;
  return nothing && <p className="p-2 text-quiet">{nothing}</p>;
}

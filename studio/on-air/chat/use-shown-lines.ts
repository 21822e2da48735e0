import { useCallback, useMemo, useState } from 'react';
import type { LineKind } from '../../../protocol/moderation.ts';
import type { ShowRecord } from '../show-record.ts';
import { useEarlierLines } from '../use-history.ts';
import type { ListedLine } from './lines.tsx';

interface Stretch {
  /** The newest first. */
  readonly lines: readonly ListedLine[];
  /** What was before this interval is not in it; null: nothing is known yet. */
  readonly before: number | null;
}

/**
 * The lines of a show, the newest first: what came while the page is open, then what was before, as
 * far as somebody looked. While they are held nothing new comes in between.
 * @param kind of this kind alone; null: of all
 * @param isHeld somebody is at something in them
 */
export function useShownLines(
  streamId: string,
  record: ShowRecord,
  kind: LineKind | null,
  isHeld: boolean,
) {
  const { lines: all, linesFrom } = record;
  const live = useMemo(
    (): Stretch => ({
      lines: all.filter((line) => kind === null || line.kind === kind).toReversed(),
      before: linesFrom,
    }),
    [all, linesFrom, kind],
  );
  const [held, setHeld] = useState<Stretch | null>(null);
  if (isHeld !== (held !== null)) setHeld(isHeld ? live : null);
  const shown = held ?? live;
  // Asked for when somebody comes to the end, and from there on for as long as that is the end.
  const [wanted, setWanted] = useState<number | null>(null);
  const earlier = useEarlierLines(streamId, wanted === shown.before ? wanted : null, kind);
  const { isMore, isFetching, isError, fetchMore } = earlier;
  const onNearEnd = useCallback(() => {
    setWanted(shown.before);
    if (isMore && !isFetching && !isError) fetchMore();
  }, [shown.before, isMore, isFetching, isError, fetchMore]);
  return {
    lines: useMemo(
      (): readonly ListedLine[] => [...shown.lines, ...earlier.lines],
      [shown.lines, earlier.lines],
    ),
    earlier,
    onNearEnd,
    /** Takes in what came while they are held. */
    catchUp: () => held && setHeld(live),
    /** How many lines that is. */
    fresh: held ? newerThan(live.lines, held.lines[0]) : 0,
  };
}

function newerThan(lines: readonly ListedLine[], newest: ListedLine | undefined): number {
  const at = lines.findIndex(({ id }) => id === newest?.id);
  return at === -1 ? lines.length : at;
}

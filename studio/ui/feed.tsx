import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { classes, FOCUS_RING } from './classes.ts';

/** Estimated height of a row; visible rows are measured. */
const ROW_PX = 56;
const GAP_PX = 4;
/** `onNearEnd` is called when this many rows or fewer follow the visible ones. */
const NEAR_END_ROWS = 12;

interface FeedProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Accessible name of an item. */
  readonly labelOf: (item: Item) => string;
  /** More items may follow. */
  readonly hasMore?: boolean;
  /** Called when the user approaches the end. */
  readonly onNearEnd?: () => void;
  /** Called for a key press on an item. */
  readonly onItemKey?: (item: Item, event: KeyboardEvent) => void;
  readonly containerRef?: Ref<HTMLDivElement>;
  /** Shown below the last item. */
  readonly end?: ReactNode;
  /** @param isCurrent whether Tab stops at the item; it skips the controls of others */
  readonly children: (item: Item, isCurrent: boolean) => ReactNode;
}

/** A virtualized list, an ARIA feed. Arrow and Page keys move the focus between items. */
export function Feed<Item>(props: FeedProps<Item>) {
  const { label, items, keyOf, hasMore = false, end, children } = props;
  const container = useRef<HTMLDivElement>(null);
  useImperativeHandle(props.containerRef, () => container.current as HTMLDivElement);
  const [current, setCurrent] = useState<number | null>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => container.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
    gap: GAP_PX,
    getItemKey: useCallback(
      (index: number) => {
        const item = items[index];
        return item === undefined ? index : keyOf(item);
      },
      [items, keyOf],
    ),
    // Keeps the focused item in the page, or the focus would be lost.
    rangeExtractor: useCallback(
      (range: Range) => {
        const visible = defaultRangeExtractor(range);
        if (current === null || current >= range.count || visible.includes(current)) return visible;
        return [...visible, current].sort((a, b) => a - b);
      },
      [current],
    ),
  });
  // Scrolling back, a newly measured item must not shift what the user reads. Scrolling forward it
  // may: a correction for each item does not fit into a frame.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (_, __, { scrollDirection }) =>
    scrollDirection === 'backward';
  const visible = virtualizer.getVirtualItems();
  const tabStop = current ?? virtualizer.range?.startIndex ?? 0;
  useNearEnd((visible.at(-1)?.index ?? -1) >= items.length - NEAR_END_ROWS, props);
  const goTo = useGoTo(container, (index) => {
    virtualizer.scrollToIndex(index);
    setCurrent(index);
  });
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    // Key presses in a menu of an item bubble up to here.
    if (event.target !== event.currentTarget) return;
    const step = { ...STEPS, Home: -index, End: items.length - 1 - index }[event.key];
    const item = items[index];
    if (step === undefined) {
      if (item !== undefined) props.onItemKey?.(item, event);
      return;
    }
    event.preventDefault();
    goTo(Math.min(Math.max(index + step, 0), items.length - 1));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the role is "group" while empty, since a feed needs articles
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles can have a name
    <div
      ref={container}
      role={items.length > 0 ? 'feed' : 'group'}
      aria-label={label}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain rounded-lg"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setCurrent(null);
      }}
    >
      <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {visible.map(({ key, index, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <article
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-label={props.labelOf(item)}
              aria-posinset={index + 1}
              aria-setsize={hasMore ? -1 : items.length}
              tabIndex={index === tabStop ? 0 : -1}
              onFocus={() => setCurrent(index)}
              onKeyDown={(event) => onKeyDown(event, index)}
              className={classes(
                'absolute inset-x-0 top-0 rounded-lg -outline-offset-3!',
                FOCUS_RING,
              )}
              style={{ transform: `translateY(${start}px)` }}
            >
              {children(item, index === tabStop)}
            </article>
          );
        })}
      </div>
      {end}
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  PageDown: 1,
  ArrowUp: -1,
  PageUp: -1,
};

function useNearEnd(isNear: boolean, { onNearEnd }: Pick<FeedProps<never>, 'onNearEnd'>): void {
  useEffect(() => {
    if (isNear) onNearEnd?.();
  }, [isNear, onNearEnd]);
}

/** @returns scrolls to an item and focuses it once it is rendered */
function useGoTo(
  container: { readonly current: HTMLElement | null },
  scrollTo: (index: number) => void,
): (index: number) => void {
  const [pendingIndex, setPendingIndex] = useState<number | null>(null);
  useEffect(() => {
    if (pendingIndex === null) return;
    const item = container.current?.querySelector<HTMLElement>(`[data-index="${pendingIndex}"]`);
    item?.focus({ preventScroll: true });
    setPendingIndex(null);
  }, [pendingIndex, container]);
  return (index) => {
    scrollTo(index);
    setPendingIndex(index);
  };
}

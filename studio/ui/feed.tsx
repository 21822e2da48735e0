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

/** About as high as most are; each is measured when it is seen. */
const ROW_PX = 56;
const GAP_PX = 4;
/** So many from the end what comes next is asked for. */
const NEAR_END = 12;

interface FeedProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** What is read out of an item that has the focus. */
  readonly wordsOf: (item: Item) => string;
  /** More may come at the end. */
  readonly isMore?: boolean;
  /** Somebody is about to see the end. */
  readonly onNearEnd?: () => void;
  /** A key was pressed on an item. */
  readonly onItemKey?: (item: Item, event: KeyboardEvent) => void;
  /** Where it is scrolled. */
  readonly placeRef?: Ref<HTMLDivElement>;
  /** Below the last. */
  readonly end?: ReactNode;
  /** @param isCurrent it has the place in the order of Tab; the buttons of others have none */
  readonly children: (item: Item, isCurrent: boolean) => ReactNode;
}

/**
 * Any number of things, one below the other; only what is seen is in the page. By keyboard: arrows
 * and Page keys go from one to the next, as is usual in a feed.
 */
export function Feed<Item>(props: FeedProps<Item>) {
  const { label, items, keyOf, isMore = false, end, children } = props;
  const place = useRef<HTMLDivElement>(null);
  useImperativeHandle(props.placeRef, () => place.current as HTMLDivElement);
  const [current, setCurrent] = useState<number | null>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
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
    // Whatever has the focus stays in the page, or the focus would be lost.
    rangeExtractor: useCallback(
      (range: Range) => {
        const seen = defaultRangeExtractor(range);
        if (current === null || current >= range.count || seen.includes(current)) return seen;
        return [...seen, current].sort((a, b) => a - b);
      },
      [current],
    ),
  });
  // Going back, what is seen for the first time must not push away what is read. Going on, it may:
  // to correct for each of many costs more than can be done between two pictures.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = (_, __, { scrollDirection }) =>
    scrollDirection === 'backward';
  const seen = virtual.getVirtualItems();
  const stop = current ?? virtual.range?.startIndex ?? 0;
  useNearEnd((seen.at(-1)?.index ?? -1) >= items.length - NEAR_END, props);
  const goTo = useGoTo(place, (index) => {
    virtual.scrollToIndex(index);
    setCurrent(index);
  });
  const listen = (event: KeyboardEvent, index: number) => {
    // What is pressed in a menu of an item comes here, too.
    if (event.target !== event.currentTarget) return;
    const to = { ...STEPS, Home: -index, End: items.length - 1 - index }[event.key];
    const item = items[index];
    if (to === undefined) {
      if (item !== undefined) props.onItemKey?.(item, event);
      return;
    }
    event.preventDefault();
    goTo(Math.min(Math.max(index + to, 0), items.length - 1));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has a role: with nothing in it that is none of a feed
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles can have a name
    <div
      ref={place}
      role={items.length > 0 ? 'feed' : 'group'}
      aria-label={label}
      className="h-[min(32rem,75dvh)] overflow-y-auto overscroll-contain rounded-lg"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setCurrent(null);
      }}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {seen.map(({ key, index, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <article
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-label={props.wordsOf(item)}
              aria-posinset={index + 1}
              aria-setsize={isMore ? -1 : items.length}
              tabIndex={index === stop ? 0 : -1}
              onFocus={() => setCurrent(index)}
              onKeyDown={(event) => listen(event, index)}
              className={classes(
                'absolute inset-x-0 top-0 rounded-lg -outline-offset-3!',
                FOCUS_RING,
              )}
              style={{ transform: `translateY(${start}px)` }}
            >
              {children(item, index === stop)}
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

/** Has the focus go to an item, once it is in the page. */
function useGoTo(
  place: { readonly current: HTMLElement | null },
  show: (index: number) => void,
): (index: number) => void {
  const [wanted, setWanted] = useState<number | null>(null);
  useEffect(() => {
    if (wanted === null) return;
    const item = place.current?.querySelector<HTMLElement>(`[data-index="${wanted}"]`);
    item?.focus({ preventScroll: true });
    setWanted(null);
  }, [wanted, place]);
  return (index) => {
    show(index);
    setWanted(index);
  };
}

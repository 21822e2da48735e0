import { type ReactNode, useId } from 'react';
import { classes } from '../ui/classes.ts';

/** The places of the first screen, as `on-air.css` lays them out. */
const PLACES = {
  video: '[grid-area:video]',
  count: '[grid-area:count]',
  screen: '[grid-area:screen]',
  next: '[grid-area:next]',
  /** Narrow screens have no place for it, but a button that opens the same list. */
  rundown: '[grid-area:rundown] hidden min-[90rem]:flex',
  chat: '[grid-area:chat]',
} as const;

/** What is visible of the header; screen readers get the title of each panel. */
const HEADERS = {
  always: { row: '', title: '' },
  /** Only what is beside the title is visible. */
  'without title': { row: '', title: 'sr-only' },
  'on wide screens': { row: 'hidden lg:flex', title: '' },
  never: { row: 'sr-only', title: '' },
} as const;

interface StagePanelProps {
  readonly title: string;
  readonly place: keyof typeof PLACES;
  /** Default: always. */
  readonly header?: keyof typeof HEADERS;
  /** Shown beside the title. */
  readonly aside?: ReactNode;
  /** The content reaches to the edges. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

/**
 * A titled part of the first screen. It fills its place and keeps its size; a part of its content
 * has to scroll.
 */
export function StagePanel(props: StagePanelProps) {
  const { title, place, header = 'always', aside, isFlush = false, children } = props;
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={classes(
        'relative flex min-h-0 min-w-0 flex-col gap-1 overflow-hidden rounded-2xl border border-line bg-card lg:gap-2',
        !isFlush && 'p-2 lg:p-3',
        PLACES[place],
      )}
    >
      <div className={classes('flex min-h-7 shrink-0 items-center gap-x-3', HEADERS[header].row)}>
        <h2 id={id} className={classes('text-lg font-bold', HEADERS[header].title)}>
          {title}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

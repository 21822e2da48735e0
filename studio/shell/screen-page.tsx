import type { ReactNode } from 'react';
import { classes } from '../ui/classes.ts';
import { useDocumentTitle } from './use-document-title.ts';

interface ScreenPageProps {
  readonly title: string;
  /** Actions beside the title. */
  readonly actions?: ReactNode;
  /** Shown above the title. */
  readonly above?: ReactNode;
  /** A note above the page that stays in view. */
  readonly note?: ReactNode;
  /** Fills the rest of the first screen. */
  readonly children: ReactNode;
  /** Below the first screen. */
  readonly below: ReactNode;
}

/**
 * A page whose first screen has all that a user needs now. What is below shows its edge, so that
 * it is found.
 */
export function ScreenPage({ title, actions, above, note, children, below }: ScreenPageProps) {
  useDocumentTitle(title);
  // The least heights leave the first screen of On air readable: all of 390 x 844, and 39rem on wide
  // screens, which then scroll.
  const hasNote = Boolean(note);
  return (
    <div className={classes('mx-auto w-full max-w-[100rem]', hasNote && '[--note-height:2.25rem]')}>
      {note && <div className="sticky top-0 z-10 h-(--note-height) print:hidden">{note}</div>}
      <div className="flex h-[calc(100dvh-var(--nav-height)-var(--note-height,0px)-1rem)] min-h-[calc(47.25rem-var(--note-height,0px))] lg:min-h-[39rem] flex-col px-4 pt-1.5 [--nav-height:3.75rem] *:min-w-0 sm:[--nav-height:0px] lg:pt-3">
        <header className="shrink-0">
          {/* A note takes its place on phones, whose navigation leads back, too. */}
          <div className={classes(hasNote && 'hidden sm:block')}>{above}</div>
          <div className="flex items-center justify-between gap-3">
            <h1 dir="auto" title={title} className="min-w-0 truncate text-xl font-bold">
              {title}
            </h1>
            <div className="flex shrink-0 gap-2">{actions}</div>
          </div>
        </header>
        {children}
      </div>
      <div className="px-4 pt-3 pb-4">{below}</div>
    </div>
  );
}

import { Drama } from 'lucide-react';
import { Link } from 'wouter';
import { FOCUS_RING } from '../ui/classes.ts';
import { texts } from './texts.ts';

/** A banner that stays in view on all pages of a rehearsal, which otherwise look like the show's. */
export function RehearsalBanner({ showId }: { readonly showId: string }) {
  return (
    <p
      role="note"
      className="sticky top-3 z-10 flex gap-3 rounded-xl border-4 border-dashed border-accent bg-accent-soft p-3 text-lg font-bold text-accent shadow-lg [&>svg]:mt-1.5 print:hidden"
    >
      <Drama className="size-5 shrink-0" />
      <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
        {texts.banner.text}
        <Link
          href={`/streams/${showId}/rehearsal`}
          className={`inline-flex min-h-8 items-center underline ${FOCUS_RING}`}
        >
          {texts.banner.link}
        </Link>
      </span>
    </p>
  );
}

/** The same as a low band, with a frame around the window, for the page that runs the rehearsal. */
export function RehearsalBand({ showId }: { readonly showId: string }) {
  return (
    <>
      <p
        role="note"
        className="flex h-full items-center justify-center gap-2 overflow-hidden bg-accent px-3 font-bold whitespace-nowrap text-sm text-on-accent sm:text-base [&>svg]:size-5 [&>svg]:shrink-0"
      >
        <Drama />
        {texts.banner.text}
        <Link
          href={`/streams/${showId}/rehearsal`}
          className={`inline-flex min-h-8 items-center underline ${FOCUS_RING} focus-visible:-outline-offset-4! focus-visible:outline-on-accent!`}
        >
          <span className="sr-only sm:not-sr-only">{texts.banner.link}</span>
          <span aria-hidden="true" className="sm:hidden">
            {texts.banner.shortLink}
          </span>
        </Link>
      </p>
      <div
        aria-hidden="true"
        className="pointer-events-none fixed inset-0 z-30 border-4 border-dashed border-accent print:hidden"
      />
    </>
  );
}

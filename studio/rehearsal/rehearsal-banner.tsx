import { Drama } from 'lucide-react';
import { Link } from 'wouter';
import { FOCUS_RING } from '../ui/classes.ts';

/** A banner that stays in view on all pages of a rehearsal, which otherwise look like the show's. */
export function RehearsalBanner({ showId }: { readonly showId: string }) {
  return (
    <p
      role="note"
      className="sticky top-3 z-10 flex gap-3 rounded-xl border-4 border-dashed border-accent bg-accent-soft p-3 text-lg font-bold text-accent shadow-lg [&>svg]:mt-1.5 print:hidden"
    >
      <Drama className="size-5 shrink-0" />
      <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
        Rehearsal: not visible to the public.
        <Link
          href={`/streams/${showId}/rehearsal`}
          className={`inline-flex min-h-8 items-center underline ${FOCUS_RING}`}
        >
          Viewers and figures
        </Link>
      </span>
    </p>
  );
}

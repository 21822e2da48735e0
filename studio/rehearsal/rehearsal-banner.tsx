import { Drama } from 'lucide-react';
import { Link } from 'wouter';
import { FOCUS_RING } from '../ui/classes.ts';

/** A banner on all pages of a rehearsal, which otherwise look like the show's. */
export function RehearsalBanner({ showId }: { readonly showId: string }) {
  return (
    <p
      role="note"
      className="flex gap-3 rounded-xl bg-accent-soft p-3 font-semibold text-accent [&>svg]:mt-1.5"
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

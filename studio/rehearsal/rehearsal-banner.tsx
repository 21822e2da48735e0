import { Drama } from 'lucide-react';
import { Link } from 'wouter';
import { FOCUS_RING } from '../ui/classes.ts';

/** Above all pages of a rehearsal, so that nobody takes it for the show. */
export function RehearsalBanner({ showId }: { readonly showId: string }) {
  return (
    <p
      role="note"
      className="flex gap-3 rounded-xl bg-accent-soft p-3 font-semibold text-accent [&>svg]:mt-1.5"
    >
      <Drama className="size-5 shrink-0" aria-hidden="true" />
      <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
        Rehearsal: nobody outside sees this.
        <Link
          href={`/streams/${showId}/rehearsal`}
          className={`inline-flex min-h-8 items-center underline ${FOCUS_RING}`}
        >
          Its viewers and figures
        </Link>
      </span>
    </p>
  );
}

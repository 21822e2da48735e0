import { LoaderCircle, TriangleAlert } from 'lucide-react';

interface LineStateProps {
  readonly isHeard: boolean;
  /** Nothing was heard yet. */
  readonly isFirst: boolean;
}

/** Says that what is shown is old, for as long as the service is not heard of. */
export function LineState({ isHeard, isFirst }: LineStateProps) {
  return (
    <div role="alert" className="sticky top-3 z-10 empty:hidden">
      {!isHeard && (
        <p className="flex items-center gap-3 rounded-xl bg-bad-soft p-3 font-semibold text-bad">
          {isFirst ? (
            <LoaderCircle
              className="size-5 animate-spin motion-reduce:animate-none"
              aria-hidden="true"
            />
          ) : (
            <TriangleAlert className="size-5 shrink-0" aria-hidden="true" />
          )}
          {isFirst
            ? 'Connecting to the show …'
            : 'The line to the service is lost. What you see may be old; it is tried again by itself.'}
        </p>
      )}
    </div>
  );
}

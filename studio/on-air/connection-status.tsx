import { LoaderCircle, TriangleAlert } from 'lucide-react';

interface ConnectionStatusProps {
  readonly isConnected: boolean;
  /** The page has not received the show yet. */
  readonly isInitial: boolean;
}

/** A banner while the page has no connection to the service. */
export function ConnectionStatus({ isConnected, isInitial }: ConnectionStatusProps) {
  return (
    <div role="alert" className="sticky top-3 z-10 empty:hidden">
      {!isConnected && (
        <p className="flex items-center gap-3 rounded-xl bg-bad-soft p-3 font-semibold text-bad">
          {isInitial ? (
            <LoaderCircle className="size-5 animate-spin motion-reduce:animate-none" />
          ) : (
            <TriangleAlert className="size-5 shrink-0" />
          )}
          {isInitial ? 'Connecting to the show…' : 'Connection lost. Reconnecting…'}
        </p>
      )}
    </div>
  );
}

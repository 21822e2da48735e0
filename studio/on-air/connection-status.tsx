import { LoaderCircle, TriangleAlert } from 'lucide-react';
import { texts } from './texts.ts';

interface ConnectionStatusProps {
  readonly isConnected: boolean;
  /** The page has not received the show yet. */
  readonly isInitial: boolean;
}

/** A banner over the page, which moves nothing, while there is no connection to the service. */
export function ConnectionStatus({ isConnected, isInitial }: ConnectionStatusProps) {
  return (
    <div
      role="alert"
      className="pointer-events-none fixed top-1 left-1/2 z-20 -translate-x-1/2 empty:hidden"
    >
      {!isConnected && (
        <p className="flex items-center gap-3 rounded-xl border border-bad bg-bad-soft px-3 py-1.5 font-semibold whitespace-nowrap text-bad shadow-lg">
          {isInitial ? (
            <LoaderCircle className="size-5 animate-spin motion-reduce:animate-none" />
          ) : (
            <TriangleAlert className="size-5 shrink-0" />
          )}
          {isInitial ? texts.page.connecting : texts.page.connectionLost}
        </p>
      )}
    </div>
  );
}

import { CloudOff, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';

/** Something is on its way. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div role="status" className="flex min-h-32 items-center justify-center gap-3 text-quiet">
      <LoaderCircle className="size-5 animate-spin motion-reduce:animate-none" aria-hidden="true" />
      {what} …
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly onAgain: () => void;
}

/** Something could not be had, and can be asked for again. */
export function Failure({ error, onAgain }: FailureProps) {
  return (
    <div
      role="alert"
      className="grid min-h-32 content-center justify-items-center gap-3 text-center"
    >
      <CloudOff className="size-8 text-quiet" aria-hidden="true" />
      <p>{error instanceof Error ? error.message : 'It did not work.'}</p>
      <Button onPress={onAgain}>Try again</Button>
    </div>
  );
}

interface EmptyProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children: ReactNode;
}

/** There is nothing here yet, and what to do about it. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div className="grid justify-items-center gap-3 rounded-2xl border border-dashed border-edge px-6 py-12 text-center [&>svg]:size-10 [&>svg]:text-quiet">
      {icon}
      <h2 className="text-lg font-bold">{title}</h2>
      <div className="grid max-w-prose justify-items-center gap-4 text-quiet">{children}</div>
    </div>
  );
}

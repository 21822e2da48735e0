import type { UseQueryResult } from '@tanstack/react-query';
import { CloudOff, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { texts } from './texts.ts';

export function Loading({ label }: { readonly label: string }) {
  return (
    <div role="status" className="flex min-h-32 items-center justify-center gap-3 text-quiet">
      <LoaderCircle className="size-5 animate-spin motion-reduce:animate-none" />
      {texts.loading(label)}
    </div>
  );
}

/** @returns the text of an error for the user */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : texts.unknownError;
}

/** A failed load with a retry button. */
export function ErrorMessage({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div
      role="alert"
      className="grid min-h-32 content-center justify-items-center gap-3 text-center"
    >
      <CloudOff className="size-8 text-quiet" />
      <p>{messageOf(error)}</p>
      <Button onPress={onRetry}>{texts.tryAgain}</Button>
    </div>
  );
}

interface LoadedProps<Data> {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isPending' | 'refetch'>;
  /** Text while the data is loading, without dots. */
  readonly label: string;
  readonly children: (data: Data) => ReactNode;
}

/** Renders the data of a query; before it arrives, that it is loading, or its error. */
export function Loaded<Data>({ query, label, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isPending) return <Loading label={label} />;
  return <ErrorMessage error={query.error} onRetry={() => query.refetch()} />;
}

interface EmptyStateProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children: ReactNode;
}

/** An empty list, with a hint what to do. */
export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <div className="grid justify-items-center gap-3 rounded-2xl border border-dashed border-edge px-6 py-12 text-center [&>svg]:size-10 [&>svg]:text-quiet">
      {icon}
      <h2 className="text-lg font-bold">{title}</h2>
      <div className="grid max-w-prose justify-items-center gap-4 text-quiet">{children}</div>
    </div>
  );
}

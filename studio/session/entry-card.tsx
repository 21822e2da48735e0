import type { ReactNode } from 'react';
import { useDocumentTitle } from '../shell/use-document-title.ts';
import { texts } from './texts.ts';

interface EntryCardProps {
  readonly title: string;
  /** The title with the names of people in `<bdi>`; default: `title`. */
  readonly heading?: ReactNode;
  readonly children: ReactNode;
}

/** The layout of pages before sign-in. */
export function EntryCard({ title, heading = title, children }: EntryCardProps) {
  useDocumentTitle(title);
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="grid w-full max-w-md gap-6 rounded-2xl border border-line bg-card p-6 sm:p-8">
        <div className="grid gap-1">
          <p className="font-bold text-accent">{texts.product}</p>
          <h1 className="min-w-0 text-2xl font-bold wrap-anywhere">{heading}</h1>
        </div>
        {children}
      </div>
    </main>
  );
}

import { type ReactNode, useEffect } from 'react';

/** The layout of pages before sign-in. */
export function EntryCard({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Fourbeat studio`;
  }, [title]);
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="grid w-full max-w-md gap-6 rounded-2xl border border-line bg-card p-6 sm:p-8">
        <div className="grid gap-1">
          <p className="font-bold text-accent">Fourbeat studio</p>
          <h1 className="text-2xl font-bold">{title}</h1>
        </div>
        {children}
      </div>
    </main>
  );
}

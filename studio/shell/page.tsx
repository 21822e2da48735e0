import type { ReactNode } from 'react';
import { useDocumentTitle } from './use-document-title.ts';

interface PageProps {
  readonly title: string;
  /** Actions beside the title. */
  readonly actions?: ReactNode;
  /** Shown above the title. */
  readonly above?: ReactNode;
  readonly children: ReactNode;
}

/** A page of the studio, with its title also as the document title. */
export function Page({ title, actions, above, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <div className="mx-auto grid w-full max-w-[100rem] content-start gap-6 *:min-w-0 p-4 sm:p-6 lg:p-8 print:p-0 print-parts">
      <header className="grid gap-2">
        {above}
        <div className="flex flex-wrap items-center justify-between gap-3">
          {/* A long title leaves the page its place. */}
          <h1
            dir="auto"
            title={title}
            className="line-clamp-2 min-w-0 text-2xl font-bold wrap-anywhere print:line-clamp-none"
          >
            {title}
          </h1>
          <div className="flex flex-wrap gap-3 print:hidden">{actions}</div>
        </div>
      </header>
      {children}
    </div>
  );
}

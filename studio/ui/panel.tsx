import { type ReactNode, useId } from 'react';

interface PanelProps {
  readonly title: string;
  /** Shown beside the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A titled section of a page. */
export function Panel({ title, aside, children }: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="grid content-start gap-4 rounded-2xl border border-line bg-card p-4 *:min-w-0 print-parts"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 break-after-avoid">
        <h2 id={id} className="text-lg font-bold">
          {title}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

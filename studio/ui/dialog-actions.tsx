import type { ReactNode } from 'react';

/** The buttons of a dialog, visible at its bottom however long its content is. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return (
    <div className="sticky bottom-0 z-10 -mx-5 -mb-5 flex flex-wrap justify-end gap-3 border-t border-line bg-card px-5 py-4 sm:-mx-6 sm:-mb-6 sm:px-6">
      {children}
    </div>
  );
}

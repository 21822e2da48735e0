import { useEffect } from 'react';

/** Shows the title of a page in its browser tab. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Fourbeat studio`;
  }, [title]);
}

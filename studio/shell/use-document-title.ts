import { useEffect } from 'react';
import { texts } from './texts.ts';

/** Shows the title of a page in its browser tab. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = texts.documentTitle(title);
  }, [title]);
}

import type { ShownShow } from '../../protocol/show-page.ts';

/** In the lobby the page looks for changes of the show, such as another start time. */
const REFRESH_MS = 30_000;

/** The show in the page's HTML; null: the service knew none when it sent the page. */
export function showIn(page: ParentNode): ShownShow | null {
  const data = page.querySelector<HTMLElement>('#root')?.dataset.show;
  return data ? JSON.parse(data) : null;
}

/** Reads the show again, as the page has it now. @returns the old one while it cannot be read */
export async function reloadShow(url: string, old: ShownShow | null): Promise<ShownShow | null> {
  try {
    const response = await fetch(url, { cache: 'no-cache' });
    if (!response.ok) return old;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    return showIn(page) ?? old;
  } catch {
    return old;
  }
}

/** Calls `run` every 30 s, each page at its own time. @returns a function that ends it */
export function everyRefresh(run: () => void): () => void {
  const timer = setInterval(run, REFRESH_MS * (0.75 + Math.random() / 2));
  return () => clearInterval(timer);
}

/** What is needed of the window. */
interface SeenWindow {
  /** null in browsers that do not have it. */
  readonly visualViewport:
    | (EventTarget & Pick<VisualViewport, 'offsetTop' | 'height' | 'scale'>)
    | null;
  readonly document: { readonly documentElement: Pick<HTMLElement, 'clientHeight' | 'style'> };
}

// Browsers round.
const ENLARGED = 1.01;
const COVERED_PX = 1;

/**
 * Tells the page's style which part of the window is seen. iPhones lay their keyboard over it, and
 * move it so that its top is gone; others make the window smaller by themselves, as the page asks
 * them to (`interactive-widget`). A page that is enlarged by two fingers is left as it is.
 */
export function followVisiblePart({ visualViewport, document }: SeenWindow): void {
  if (!visualViewport) return;
  const { documentElement } = document;
  const set = (name: string, px: number | null) =>
    documentElement.style.setProperty(name, px === null ? null : `${px}px`);
  const look = () => {
    const { offsetTop, height, scale } = visualViewport;
    const isCovered = height < documentElement.clientHeight - COVERED_PX && scale < ENLARGED;
    set('--visible-top', isCovered ? offsetTop : null);
    set('--visible-height', isCovered ? height : null);
    set('--least-height', isCovered ? 0 : null);
  };
  look();
  visualViewport.addEventListener('resize', look);
  visualViewport.addEventListener('scroll', look);
}

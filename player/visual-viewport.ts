/** The part of the window that `trackVisualViewport` needs. */
interface ViewportWindow {
  /** null in browsers without visual viewports. */
  readonly visualViewport:
    | (EventTarget & Pick<VisualViewport, 'offsetTop' | 'height' | 'scale'>)
    | null;
  readonly document: { readonly documentElement: Pick<HTMLElement, 'clientHeight' | 'style'> };
}

// Tolerances, since browsers round.
const ZOOMED_SCALE = 1.01;
const COVERED_PX = 1;

/**
 * Sets CSS variables to the visible part of the window while an on-screen keyboard covers the rest.
 * iPhones lay the keyboard over the page and scroll it; other browsers resize the window, as the page
 * asks them to (`interactive-widget`). A page that is zoomed by pinching is left as it is.
 */
export function trackVisualViewport({ visualViewport, document }: ViewportWindow): void {
  if (!visualViewport) return;
  const { documentElement } = document;
  const setProperty = (name: string, px: number | null) =>
    documentElement.style.setProperty(name, px === null ? null : `${px}px`);
  const update = () => {
    const { offsetTop, height, scale } = visualViewport;
    const isCovered = height < documentElement.clientHeight - COVERED_PX && scale < ZOOMED_SCALE;
    setProperty('--visible-top', isCovered ? offsetTop : null);
    setProperty('--visible-height', isCovered ? height : null);
    setProperty('--least-height', isCovered ? 0 : null);
  };
  update();
  visualViewport.addEventListener('resize', update);
  visualViewport.addEventListener('scroll', update);
}

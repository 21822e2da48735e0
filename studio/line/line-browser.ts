import type { LineBrowser } from './kept-line.ts';

/** What a browser tells the window, or the document, when something was asleep. */
const OF_WINDOW = ['online', 'pageshow'] as const;
const OF_DOCUMENT = ['resume', 'visibilitychange'] as const;

/** The browser of this page, for its line. */
export const lineBrowser: LineBrowser = {
  after: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  onWake: (then) => {
    const wake = () => document.visibilityState === 'visible' && then();
    for (const type of OF_WINDOW) window.addEventListener(type, wake);
    for (const type of OF_DOCUMENT) document.addEventListener(type, wake);
    return () => {
      for (const type of OF_WINDOW) window.removeEventListener(type, wake);
      for (const type of OF_DOCUMENT) document.removeEventListener(type, wake);
    };
  },
};

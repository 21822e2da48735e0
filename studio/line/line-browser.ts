import type { LineBrowser } from './kept-line.ts';

/** What a document is told when its page, or its machine, was asleep. */
const WAKING = ['resume', 'visibilitychange'] as const;

/** The browser of this page, for its line. */
export const lineBrowser: LineBrowser = {
  after: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  onWake: (then) => {
    const wake = () => document.visibilityState === 'visible' && then();
    window.addEventListener('online', wake);
    for (const type of WAKING) document.addEventListener(type, wake);
    return () => {
      window.removeEventListener('online', wake);
      for (const type of WAKING) document.removeEventListener(type, wake);
    };
  },
};

import type { ConnectionEnvironment } from './reconnecting-event-stream.ts';

/** Document events after the page or the machine was suspended. */
const WAKE_EVENTS = ['resume', 'visibilitychange'] as const;

export const connectionEnvironment: ConnectionEnvironment = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  onWake: (callback) => {
    const wake = () => document.visibilityState === 'visible' && callback();
    window.addEventListener('online', wake);
    for (const type of WAKE_EVENTS) document.addEventListener(type, wake);
    return () => {
      window.removeEventListener('online', wake);
      for (const type of WAKE_EVENTS) document.removeEventListener(type, wake);
    };
  },
};

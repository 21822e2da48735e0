import type { EventData } from '../../../sdk/types.ts';
import type { Snapshot, Viewer, ViewerEvents } from '../../../sdk/viewer.ts';

// Waiting and checking for the cases of the suite, in every runtime.

/** Longer than any case takes, also on a busy machine. */
const WAIT_MS = 15_000;

export async function waitUntilLive(...viewers: Viewer[]): Promise<void> {
  await Promise.all(viewers.map((viewer) => waitUntil(viewer, ({ state }) => state === 'live')));
}

/** Resolves when the condition holds. */
export function waitUntil(viewer: Viewer, holds: (snapshot: Snapshot) => boolean): Promise<void> {
  return withTimeout(
    `condition never held: ${holds}, but ${JSON.stringify(viewer.snapshot)}`,
    (resolve) => {
      const checkCondition = () => {
        if (holds(viewer.snapshot)) resolve();
      };
      checkCondition();
      const removeListeners = [
        viewer.on('change', checkCondition),
        viewer.on('interval', checkCondition),
      ];
      return () => {
        for (const remove of removeListeners) remove();
      };
    },
  );
}

type ListenableEvents = EventData & ViewerEvents;

/** The next event of this type. */
export function nextEvent<T extends keyof ListenableEvents>(
  viewer: Viewer,
  type: T,
): Promise<ListenableEvents[T]>;
export function nextEvent(viewer: Viewer, type: string): Promise<unknown>;
export function nextEvent(viewer: Viewer, type: string): Promise<unknown> {
  return withTimeout(`no ${type} event arrived`, (resolve) => viewer.on(type, resolve));
}

function withTimeout<T>(
  problem: string,
  begin: (resolve: (value: T) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(problem));
      end();
    }, WAIT_MS);
    let end = () => {};
    end = begin((value) => {
      clearTimeout(timer);
      resolve(value);
      end();
    });
  });
}

/** @returns the kind of the error; `none` when the promise resolves */
export function errorKindOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error) => error.kind ?? String(error),
  );
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function expectEqual(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(one === other, `expected ${other}, got ${one}`);
}

export function check(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

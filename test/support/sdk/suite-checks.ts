import type { EventData } from '../../../sdk/types.ts';
import type { Snapshot, Viewer, ViewerEvents } from '../../../sdk/viewer.ts';

// How cases of the suite wait and check, in every runtime.

/** Longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000;

export async function live(...viewers: Viewer[]): Promise<void> {
  await Promise.all(viewers.map((viewer) => until(viewer, ({ state }) => state === 'live')));
}

/** Fulfilled when this holds. */
export function until(viewer: Viewer, holds: (snapshot: Snapshot) => boolean): Promise<void> {
  return inTime(`it never held: ${holds}, but ${JSON.stringify(viewer.snapshot)}`, (resolve) => {
    const look = () => {
      if (holds(viewer.snapshot)) resolve();
    };
    look();
    const ends = [viewer.on('change', look), viewer.on('interval', look)];
    return () => {
      for (const end of ends) end();
    };
  });
}

type Told = EventData & ViewerEvents;

/** The next event of this type. */
export function once<T extends keyof Told>(viewer: Viewer, type: T): Promise<Told[T]>;
export function once(viewer: Viewer, type: string): Promise<unknown>;
export function once(viewer: Viewer, type: string): Promise<unknown> {
  return inTime(`${type} never came`, (resolve) => viewer.on(type, resolve));
}

function inTime<T>(
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

/** @returns the kind of what is thrown */
export function trouble(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error) => error.kind ?? String(error),
  );
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function same(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(one === other, `expected ${other}, got ${one}`);
}

export function check(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

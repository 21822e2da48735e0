import { runtime } from './runtime.ts';

/** Resolves when the promise is fulfilled, or after `ms`. Rejects when the promise does. */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = runtime.setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeout]).finally(() => runtime.clearTimer(timer));
}

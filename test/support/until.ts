const POLL_MS = 50;

/** Polls until `poll` returns a truthy value. @throws Error when it does not in time */
export async function until<T>(
  what: string,
  poll: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  withinMs = 15_000,
): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const result = await poll();
    if (result) return result;
    if (performance.now() > deadlineMs) throw new Error(`not in ${withinMs} ms: ${what}`);
    await Bun.sleep(POLL_MS);
  }
}

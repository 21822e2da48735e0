const LOOK_MS = 50;

/** Looks again and again. @throws Error when it does not come true in time */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  withinMs = 15_000,
): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadlineMs) throw new Error(`not in ${withinMs} ms: ${what}`);
    await Bun.sleep(LOOK_MS);
  }
}

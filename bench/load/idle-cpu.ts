import type { Pinned } from '../run/pinned.ts';

const SETTLE_MS = 3_000;

/** The CPU of an idle server, in cores. */
export async function idleCpu({ usage }: Pick<Pinned, 'usage'>, seconds: number): Promise<number> {
  await Bun.sleep(SETTLE_MS);
  const before = usage().cpuS;
  await Bun.sleep(seconds * 1_000);
  return (usage().cpuS - before) / seconds;
}

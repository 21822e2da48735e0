import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Puts the SDK into a directory as it is published, and the suite with it. */
export async function buildSdk(outdir: string): Promise<void> {
  const build = Bun.spawn(['node', at('../../../scripts/build-sdk.mjs'), outdir], {
    stderr: 'pipe',
  });
  if ((await build.exited) !== 0) throw new Error(await new Response(build.stderr).text());
  await Bun.build({ entrypoints: [at('./suite-program.ts')], outdir, target: 'browser' });
}

import { fileURLToPath } from 'node:url';

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the published form of the SDK, with the suite, into a directory. */
export async function buildSdk(outdir: string): Promise<void> {
  const build = Bun.spawn(['node', resolvePath('../../../scripts/build-sdk.mjs'), outdir], {
    stderr: 'pipe',
  });
  if ((await build.exited) !== 0) throw new Error(await new Response(build.stderr).text());
  await Bun.build({ entrypoints: [resolvePath('./suite-program.ts')], outdir, target: 'browser' });
}

import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Puts the SDK into a directory as it is published, and the suite with it. */
export async function buildSdk(outdir: string): Promise<void> {
  for (const entrypoints of [
    [at('../../sdk/index.ts'), at('../../sdk/pictures.ts')],
    [at('./suite-program.ts')],
  ]) {
    await Bun.build({ entrypoints, outdir, target: 'browser', splitting: true, minify: true });
  }
}

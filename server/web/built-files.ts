import type { BuildArtifact, BunPlugin } from 'bun';
import { type Page, textPage, withGzip } from './page.ts';
import { TYPEFACE_PATH } from './typeface.ts';

// The expression that the build replaces, so that libraries leave out their development code.
// It is joined because only `config.ts` may contain it (`test/architecture.test.ts`).
const MODE = ['process', 'env', 'NODE_ENV'].join('.');

/**
 * Bundles scripts and styles for browsers. Lazily imported modules become separate files.
 * @param entries paths of `.ts`, `.tsx` and `.css` files
 * @param publicPath URL path of the files, with a trailing `/`
 * @param plugins loaders for files that Bun cannot load
 * @returns the files by name
 * @throws when the build fails
 */
export async function buildFiles(
  entries: readonly string[],
  publicPath: string,
  plugins: BunPlugin[] = [],
): Promise<ReadonlyMap<string, Page>> {
  const { outputs } = await Bun.build({
    entrypoints: [...entries],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    publicPath,
    // Served by `typeface.ts`.
    external: [`${TYPEFACE_PATH}*`],
    plugins,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { [MODE]: '"production"' },
    jsx: { runtime: 'automatic', development: false },
  });
  const page = async (output: BuildArtifact) => {
    const text = textPage(output.type, await output.text());
    return [fileName(output), await withGzip(text)] as const;
  };
  return new Map(await Promise.all(outputs.map(page)));
}

function fileName({ path }: BuildArtifact): string {
  return path.split('/').at(-1) ?? path;
}

import type { BuildArtifact, BunPlugin } from 'bun';
import { type Page, textPage, withGzip } from './page.ts';

// What React and others look at to leave out what only developers need: a name in what is built, not
// a variable that is read here.
const MODE = ['process', 'env', 'NODE_ENV'].join('.');

/**
 * Scripts and styles for browsers, with all that they import, by file name. What a script imports
 * lazily is a file of its own.
 * @param entries paths of `.ts`, `.tsx` and `.css` files
 * @param place where they will be served, with `/` at its end
 * @param plugins load files that Bun cannot
 * @throws when they cannot be built
 */
export async function buildFiles(
  entries: readonly string[],
  place: string,
  plugins: BunPlugin[] = [],
): Promise<ReadonlyMap<string, Page>> {
  const { outputs } = await Bun.build({
    entrypoints: [...entries],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    publicPath: place,
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

import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/postcss';
import type { BunPlugin } from 'bun';
import postcss from 'postcss';
import { buildFiles } from './built-files.ts';

// The worker of `studio-page.ts`: posts the built files, or a string that describes the error.

declare const self: Worker;
const FOLDER = new URL('../../studio/', import.meta.url);
const ENTRIES = ['studio.tsx', 'studio.css'].map((name) => fileURLToPath(new URL(name, FOLDER)));

/** Generates the stylesheet from the classes that the studio's files use. */
const tailwind: BunPlugin = {
  name: 'tailwind',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/studio\/[^/]+\.css$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const styles = postcss([tailwindcss({ base: dirname(path), optimize: false })]);
      return { contents: (await styles.process(text, { from: path })).css, loader: 'css' };
    });
  },
};

try {
  self.postMessage(await buildFiles(ENTRIES, '/studio/files/', [tailwind]));
} catch (error) {
  self.postMessage(Bun.inspect(error));
}

// `node scripts/build-sdk.mjs DIR`: writes the package @fourbeat/viewer into a new folder, ready for
// `npm publish DIR`. Each entry is one file of its own; declarations stand alone.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare, projectDir } from './install.mjs';

const sdkDir = join(projectDir, 'sdk');
const tsc = join(projectDir, 'node_modules', 'typescript', 'bin', 'tsc');

/** Entries of the package, by the file they become. */
const ENTRIES = {
  index: 'index.ts',
  react: 'react.ts',
  pictures: 'pictures.ts',
  mock: 'mock/mock-service.ts',
};

async function build(dir) {
  mkdirSync(dir, { recursive: true });
  for (const [name, entry] of Object.entries(ENTRIES)) {
    writeFileSync(join(dir, `${name}.js`), await bundle(entry));
  }
  declare(dir);
  for (const file of ['package.json', 'README.md', 'mock/README.md']) {
    cpSync(join(sdkDir, file), join(dir, file));
  }
  cpSync(join(projectDir, 'LICENSE'), join(dir, 'LICENSE'));
}

async function bundle(entry) {
  const { outputs } = await Bun.build({
    entrypoints: [join(sdkDir, entry)],
    target: 'browser',
    format: 'esm',
    minify: true,
    external: ['react'],
    plugins: [shorter, ...(entry === ENTRIES.react ? [joinOfMain] : [])],
  });
  return outputs[0].text();
}

/** What the minifier leaves: numbers that come after imports are not put where they are used. */
const shorter = {
  name: 'shorter',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/(?:sdk|protocol)\/.*\.ts$/ }, ({ path }) => {
      const constants = [];
      const rest = readFileSync(path, 'utf8').replace(/^const [A-Z_]+ = [-\d._e]+;$/gm, (one) => {
        constants.push(one);
        return '';
      });
      return {
        contents: [...constants, rest]
          .join('\n')
          .replace(/Number\.(POSI|NEGA)TIVE_INFINITY/g, (name) =>
            name.includes('POSI') ? '(1/0)' : '(-1/0)',
          ),
        loader: 'ts',
      };
    });
  },
};

/** The hooks join with what the app has anyway. */
const joinOfMain = {
  name: 'join of the main entry',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/join\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};

/** Writes the declarations of the entries and of whatever these import. */
function declare(dir) {
  const made = mkdtempSync(join(tmpdir(), 'fourbeat-sdk-'));
  try {
    const config = {
      extends: join(projectDir, 'tsconfig.pages.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        types: [],
        outDir: join(made, 'types'),
        rootDir: projectDir,
      },
      include: [],
      files: Object.values(ENTRIES).map((entry) => join(sdkDir, entry)),
    };
    writeFileSync(join(made, 'tsconfig.json'), JSON.stringify(config));
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', made], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stdout);
    const entries = Object.values(ENTRIES).map((entry) => entry.replace('.ts', '.d.ts'));
    copyDeclarations(join(made, 'types', 'sdk'), dir, entries);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function copyDeclarations(from, to, entries) {
  const seen = new Set();
  const waiting = [...entries];
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readFileSync(join(from, path), 'utf8').replace(
      /'(\.[^']*)\.ts'/g,
      (_, imported) => {
        waiting.push(`${join(dirname(path), imported)}.d.ts`);
        return `'${imported}.js'`;
      },
    );
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), text);
  }
}

const [target] = process.argv.slice(2);
if (!target) {
  console.error('usage: build-sdk DIR');
  process.exitCode = 2;
} else if (process.versions.bun) {
  await build(resolve(target));
} else {
  const self = fileURLToPath(import.meta.url);
  const { status } = spawnSync(prepare({ dev: true }), [self, target], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

// `node scripts/build-sdk.mjs DIR`: writes the package @fourbeat/viewer into a new folder, ready for
// `npm publish DIR`. Each entry becomes one JavaScript file, with its declarations.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare, projectDir } from './install.mjs';

const sdkDir = join(projectDir, 'sdk');
const tsc = join(projectDir, 'node_modules', 'typescript', 'bin', 'tsc');

/** Source files of the entries, by the name of the file that is built. */
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
  checkInternal(dir);
  for (const file of ['package.json', 'README.md', 'mock/README.md']) {
    cpSync(join(sdkDir, file), join(dir, file));
  }
  cpSync(join(projectDir, 'LICENSE'), join(dir, 'LICENSE'));
}

/**
 * Properties that only the main entry uses; their names are shortened. A name that an app, another
 * entry, the service or the storage uses must not be listed.
 */
const INTERNAL = new RegExp(
  `^(?:${[
    'accept|addMissedQuiz|api|apply|atMs|emit|eventStream|fail|fetchInterval|hasQuizAt|isTooFar',
    'isWorking|lastCloseInterval|load|merge|newToken|nextMs|offsetMs|onGap|onState|pendingAnswers',
    'poll|poller|quizAt|receive|recordWin|recordWinner|reject|requestedMs|reset|resync|retry|sampledMs|save',
    'sendChat|sendHeartbeat|sentMs|serialize|setState|setStream|skipTo|start|stopRenewal|streamer',
    'synced|systemLeadMs|timers|update|wait|waitMs|winnersAt',
  ].join('|')})$`,
);

/** Names of one letter or two that are short when packed: the commonest letters first. */
const LETTERS = {
  get(index) {
    const letters = 'etsinrhaloucwfdyvmpMgbzkqTSxOEINPAjCDWJUFBGHKLQRVXYZ$_';
    const rest = Math.floor(index / letters.length);
    return letters[index % letters.length] + (rest ? this.get(rest - 1) : '');
  },
};

async function bundle(entry) {
  const { outputs } = await Bun.build({
    entrypoints: [join(sdkDir, entry)],
    target: 'browser',
    format: 'esm',
    minify: true,
    external: ['react'],
    plugins: entry === ENTRIES.react ? [joinOfMain] : [],
  });
  // Imported here, since no package may be installed when this program starts on Node.
  const { minify } = await import('terser');
  const isMain = entry === ENTRIES.index;
  const text = await outputs[0].text();
  const { code } = await minify(isMain ? withoutPrivate(text) : text, {
    module: true,
    ecma: 2022,
    compress: {
      passes: 3,
      pure_getters: true,
      keep_fargs: false,
      lhs_constants: false,
      comparisons: false,
    },
    mangle: { properties: isMain && { regex: INTERNAL, builtins: true }, nth_identifier: LETTERS },
  });
  return code;
}

/**
 * Turns private members into properties without declarations. Members that start as null or false are then
 * undefined, which is equivalent unless the code compares strictly.
 * @throws Error when the code compares strictly
 */
function withoutPrivate(text) {
  const [strictComparison] = /this\.#\w+[!=]==(null|!1)/.exec(text) ?? [];
  if (strictComparison) throw new Error(`a private member is compared: ${strictComparison}`);
  return text.replace(/(?<=[{;])#\w+(=null|=!1)?;/g, '').replaceAll('#', ' _');
}

/** Checks declarations. @throws Error when INTERNAL has a name that apps or other entries use */
function checkInternal(dir) {
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.d.ts'))) {
    const text = readFileSync(join(dir, file), 'utf8').replace(/\/\*.*?\*\//gs, '');
    const known = text.match(/\w+(?=\??[(:<])/g)?.find((name) => INTERNAL.test(name));
    if (known) throw new Error(`${known} is not internal: ${file}`);
  }
}

/** Makes the React entry import `join` from the main entry instead of bundling it again. */
const joinOfMain = {
  name: 'join of the main entry',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/join\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};

/** Writes the declarations of the entries and of the files that these import. */
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

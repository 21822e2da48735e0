/** The rules on how the source is cut up and who may import whom, as pure functions. */

/** Source text by path from the root of the repository, with `/` between folders. */
export type SourceTree = ReadonlyMap<string, string>;

const MAX_LINES = 320;

/** Who may import whom, by top folder. Folders that are not listed are free. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  protocol: ['protocol'],
  server: ['server', 'protocol'],
  sdk: ['sdk', 'protocol'],
  player: ['player', 'sdk', 'protocol'],
  studio: ['studio', 'sdk', 'protocol'],
};

/** Words that say nothing about what a file is for. */
const EMPTY_WORDS = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'manager',
  'managers',
  'misc',
]);

/** Folders whose files are started by a person or a test, and so may look at the environment. */
const ENV_READERS = [/^server\/main\.ts$/, /^server\/config\.ts$/, /^server\/cli\//, /^scripts\//];

/** Imports, re-exports and `import()` of a file by a relative path, types included. */
const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.[^'"\n]*)['"]/g;

const TEXT_OR_COMMENT =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*/g;

const ENV_READ = /\bprocess\s*\.\s*env\b|\bBun\s*\.\s*env\b|\bimport\s*\.\s*meta\s*\.\s*env\b/;

/**
 * Imports that go against the arrows `pages → sdk → protocol` and `server → protocol`. A test that
 * lies beside what it tests may also use what lies in `test/`, such as servers to test with.
 */
export function findWrongArrows(tree: SourceTree): string[] {
  return listImports(tree)
    .filter(({ from, to }) => !(isTest(from) && topFolder(to) === 'test'))
    .filter(({ from, to }) => ARROWS[topFolder(from)]?.includes(topFolder(to)) === false)
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Files of a domain folder that import the composition root. */
export function findImportsOfMain(tree: SourceTree): string[] {
  return listImports(tree)
    .filter(({ from, to }) => /^server\/[^/]+\//.test(from) && to === 'server/main.ts')
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Files other than the composition root, the configuration and the commands that read the environment. */
export function findEnvReads(tree: SourceTree): string[] {
  return [...tree]
    .filter(([path]) => !isTest(path) && !ENV_READERS.some((pattern) => pattern.test(path)))
    .filter(([, text]) => ENV_READ.test(withoutComments(text)))
    .map(([path]) => `${path} reads the environment`);
}

/** Files and folders with a name that would fit anything. */
export function findEmptyNames(tree: SourceTree): string[] {
  return [...tree.keys()]
    .filter((path) => path.split(/[/.\-_]/).some((word) => EMPTY_WORDS.has(word.toLowerCase())))
    .map((path) => `${path} has a name that says nothing`);
}

/** Source files, other than tests, that are too long to read in one go. */
export function findLongFiles(tree: SourceTree): string[] {
  return [...tree]
    .filter(([path]) => !isTest(path))
    .map(([path, text]) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines, more than ${MAX_LINES}`);
}

/** Every import cycle, once, as `a.ts → b.ts → a.ts`. Imports of types count too. */
export function findCycles(tree: SourceTree): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of listImports(tree)) {
    targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const cycles = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      cycles.add([...trail.slice(start), path].join(' → '));
    } else if (!done.has(path)) {
      for (const target of targets.get(path) ?? []) {
        visit(target, [...trail, path]);
      }
      done.add(path);
    }
  };
  for (const path of [...targets.keys()].sort()) {
    visit(path, []);
  }
  return [...cycles];
}

/** Imports between files of the tree. A path that leads to no file is the compiler's to report. */
function listImports(tree: SourceTree): { from: string; to: string }[] {
  return [...tree].flatMap(([from, text]) =>
    [...withoutComments(text).matchAll(RELATIVE_IMPORT)]
      .map((match) => ({ from, to: resolve(from, match[1] ?? '') }))
      .filter(({ to }) => tree.has(to)),
  );
}

function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function topFolder(path: string): string {
  return path.split('/', 1)[0] ?? '';
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || /^(?:test|bench)\//.test(path);
}

/** Drops comments and keeps texts, so that a route such as `/media/*` opens no comment. */
function withoutComments(text: string): string {
  return text.replace(TEXT_OR_COMMENT, (match) => (match.startsWith('/') ? '' : match));
}

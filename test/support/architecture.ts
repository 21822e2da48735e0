/** The rules of the source tree as pure functions; `test/architecture.test.ts` applies them. */

/** Source text by path from the root of the repository, with `/` between folders. */
export type SourceTree = ReadonlyMap<string, string>;

/**
 * The layers, from top to bottom, and the rooms of each: folders or files. An import goes to a lower
 * layer or stays in its room; rooms of one layer do not import each other.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['server/main.ts', 'scripts'],
  ['server/cli'],
  ['demo'],
  ['server/app'],
  ['server/gateway', 'server/web'],
  ['server/domains'],
  ['server/realtime', 'server/media'],
  ['server/auth'],
  ['server/http', 'server/storage'],
  ['server/platform'],
  ['studio'],
  ['player'],
  ['crowd', 'sdk'],
  ['protocol'],
];

const RANKS = new Map(LAYERS.flatMap((rooms, rank) => rooms.map((room) => [room, rank] as const)));

/** Words that CONTRIBUTING.md bans from names, with what to write instead. */
const BANNED_WORDS: ReadonlyMap<string, string> = new Map([
  ['told', 'sent, published, received'],
  ['tell', 'send, publish, notify'],
  ['tells', 'sends, publishes'],
  ['telling', 'dispatch, notification'],
  ['hear', 'receive'],
  ['heard', 'received'],
  ['hears', 'receives'],
  ['away', 'unavailable'],
  ['tally', 'count, presence'],
  ['ground', 'fixture'],
  ['witness', 'recorder'],
  ['manners', 'checker'],
  ['strangers', 'unauthorized clients'],
  ['habits', 'profile'],
  ['mishap', 'fault'],
  ['mishaps', 'faults'],
  ['shelf', 'segment store'],
  ['shelves', 'segment stores'],
  ['happening', 'event'],
  ['happenings', 'events'],
  ['wishes', 'preferences'],
  ['standstill', 'stall'],
  ['trouble', 'error, health'],
  ['whoever', 'a role'],
  ['util', 'what it does'],
  ['utils', 'what it does'],
  ['helper', 'what it does'],
  ['helpers', 'what it does'],
  ['manager', 'what it does'],
  ['misc', 'what it does'],
]);

/** Names that are fixed elsewhere: by fields of the API, and by the browser and libraries. */
const FIXED_NAMES = new Set(['tally', 'toldInterval', 'LockManager', 'onlineManager']);

const ENV_READERS = /^(?:server\/platform\/config\.ts|scripts\/.*)$/;
const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.[^'"\n]*)['"]/g;
const FILE_URL = /\bnew\s+URL\(\s*['"](\.[^'"\n]*)['"]/g;
const STRING_OR_COMMENT =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*/g;
const ENV_READ = /\bprocess\s*\.\s*env\b|\bBun\s*\.\s*env\b|\bimport\s*\.\s*meta\s*\.\s*env\b/;
const RUNTIME = 'server/platform/runtime.ts';
const PROCESS_READ =
  /\b(?:Date\.now|performance\.now|Math\.random|crypto\.(?:random\w+|getRandomValues)|Bun\.sleep|AbortSignal\.timeout)\b|\bnew Date\(\)|(?<![.\w#])(?:set|clear)(?:Timeout|Interval|Immediate)\b/;
const RANDOM_IMPORT =
  /import \{[^}]*\b(?:random\w+|getRandomValues)\b[^}]*\} from '(?:node:)?crypto'/;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
const CAMEL_WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/** The room of a file: a folder of `server/`, or a top folder; null for files outside the layers. */
export function roomOf(path: string): string | null {
  const [top = '', second = ''] = path.split('/');
  return [path, `${top}/${second}`, top].find((room) => RANKS.has(room)) ?? null;
}

/** Imports of the product that go up or sideways. Tests may import everything. */
export function findWrongImports(tree: SourceTree): string[] {
  return listImports(tree)
    .filter(({ from, to }) => !isTest(from) && isWrong(from, to))
    .map(({ from, to }) => `${from} imports ${to}`);
}

function isWrong(from: string, to: string): boolean {
  if (isTest(to)) return roomOf(from) !== null;
  const [source, target] = [roomOf(from), roomOf(to)];
  if (source === null || target === null || source === target) return false;
  return (RANKS.get(target) ?? 0) <= (RANKS.get(source) ?? 0);
}

/** Files other than the configuration that read the environment. */
export function findEnvReads(tree: SourceTree): string[] {
  return [...tree]
    .filter(
      ([path, text]) => !isTest(path) && !ENV_READERS.test(path) && ENV_READ.test(codeOf(text)),
    )
    .map(([path]) => path);
}

/** Files of the server that read clocks, timers or randomness of the process past `runtime.ts`. */
export function findProcessReads(tree: SourceTree): string[] {
  return [...tree]
    .filter(
      ([path, text]) =>
        path.startsWith('server/') &&
        path !== RUNTIME &&
        !isTest(path) &&
        (PROCESS_READ.test(codeOf(text)) || RANDOM_IMPORT.test(text)),
    )
    .map(([path]) => path);
}

/** Banned words in identifiers and in names of files and folders, with a place of each. */
export function findBannedWords(tree: SourceTree): string[] {
  const found = new Map<string, string>();
  for (const [path, text] of tree) {
    if (path.endsWith('.css')) continue;
    for (const name of [...path.split(/[/.-]/), ...(codeOf(text).match(IDENTIFIER) ?? [])]) {
      if (FIXED_NAMES.has(name)) continue;
      const banned = name.match(CAMEL_WORD)?.find((word) => BANNED_WORDS.has(word.toLowerCase()));
      if (banned && !found.has(name)) {
        found.set(name, `${name} in ${path}: use ${BANNED_WORDS.get(banned.toLowerCase())}`);
      }
    }
  }
  return [...found.values()];
}

/** Every import cycle, once, as `a.ts → b.ts → a.ts`; imports of types count. */
export function findCycles(tree: SourceTree): string[] {
  const targets = Map.groupBy(listImports(tree), ({ from }) => from);
  const done = new Set<string>();
  const cycles = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.add([...trail.slice(start), path].join(' → '));
    else if (!done.has(path)) {
      for (const { to } of targets.get(path) ?? []) visit(to, [...trail, path]);
      done.add(path);
    }
  };
  for (const path of [...targets.keys()].sort()) visit(path, []);
  return [...cycles];
}

/** All files that the entries reach by imports and by `new URL('./file', import.meta.url)`. */
export function reachedFrom(tree: SourceTree, entries: readonly string[]): Set<string> {
  const links = Map.groupBy([...listImports(tree), ...listFileUrls(tree)], ({ from }) => from);
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { to } of links.get(path) ?? []) visit(to);
  };
  for (const entry of entries) visit(entry);
  return reached;
}

/** Imports between files of the tree. The compiler reports an import that leads nowhere. */
function listImports(tree: SourceTree): { from: string; to: string }[] {
  return linksOf(tree, RELATIVE_IMPORT);
}

function listFileUrls(tree: SourceTree): { from: string; to: string }[] {
  return linksOf(tree, FILE_URL);
}

function linksOf(tree: SourceTree, pattern: RegExp): { from: string; to: string }[] {
  return [...tree].flatMap(([from, text]) =>
    [...withoutComments(text).matchAll(pattern)]
      .map((match) => ({ from, to: new URL(match[1] ?? '', `file:///${from}`).pathname.slice(1) }))
      .filter(({ to }) => tree.has(to)),
  );
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || /^(?:test|bench)\//.test(path);
}

/** Drops comments and keeps strings, so that a route such as `/media/*` opens no comment. */
function withoutComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, (match) => (match.startsWith('/') ? '' : match));
}

/** Drops comments and the text of strings; keeps the expressions of template strings. */
function codeOf(text: string): string {
  return text.replace(STRING_OR_COMMENT, (match) =>
    match.startsWith('`') ? (match.match(/\$\{[^}]*\}/g) ?? []).join(' ') : '',
  );
}

import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import {
  findBannedWords,
  findCycles,
  findEnvReads,
  findProcessReads,
  findWrongImports,
  reachedFrom,
  roomOf,
  type SourceTree,
} from './support/architecture.ts';
import { findPageTexts } from './support/page-texts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = 'protocol,crowd,sdk,player,studio,server,demo,test,bench,scripts';

/** What a user of the package starts or imports. */
const ENTRIES = [
  'server/main.ts',
  'demo/crowd-process.ts',
  'player/watch.tsx',
  'player/watch-page.css',
  'player/start-page.css',
  'studio/studio.tsx',
  'studio/studio.css',
  'studio/display/display.tsx',
  'studio/display/display.css',
  'sdk/index.ts',
  'sdk/pictures.ts',
  'sdk/react.ts',
  'sdk/mock/mock-service.ts',
];

async function readTree(): Promise<SourceTree> {
  const glob = new Bun.Glob(`{${FOLDERS}}/**/*.{ts,tsx,mjs,css}`);
  const paths = (await Array.fromAsync(glob.scan({ cwd: root }))).sort();
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path, await Bun.file(`${root}/${path}`).text()] as const),
    ),
  );
}

const tree = await readTree();
const treeOf = (files: Record<string, string>): SourceTree => new Map(Object.entries(files));

describe('the source tree', () => {
  test('has a layer for every folder of the product', () => {
    const outside = [...tree.keys()].filter(
      (path) => !/^(?:test|bench)\//.test(path) && roomOf(path) === null,
    );
    expect(outside).toEqual([]);
    expect(tree.size).toBeGreaterThan(1_000);
  });

  test('imports down the layers only', () => {
    expect(findWrongImports(tree)).toEqual([]);
  });

  test('has no import cycle', () => {
    expect(findCycles(tree)).toEqual([]);
  });

  test('reads the environment in server/platform/config.ts only', () => {
    expect(findEnvReads(tree)).toEqual([]);
  });

  test('reads clocks, timers and randomness in server/platform/runtime.ts only', () => {
    expect(findProcessReads(tree)).toEqual([]);
    const reads = ['Date.now()', 'performance.now()', 'setTimeout(run, 1)', 'Bun.sleep(1)'];
    for (const read of [...reads, "import { randomUUID } from 'node:crypto';"]) {
      expect(findProcessReads(treeOf({ 'server/http/route.ts': read }))).toHaveLength(1);
    }
  });

  test('loads no package in the database threads, since a schema library doubles their start', async () => {
    const entrypoints = [`${root}server/app/database-worker.ts`];
    const { metafile } = await Bun.build({ entrypoints, target: 'bun', metafile: true });
    const loaded = Object.keys(metafile?.inputs ?? {});
    expect(loaded.length).toBeGreaterThan(50);
    expect(loaded.filter((path) => path.includes('node_modules'))).toEqual([]);
  });

  test('has no banned word in names', () => {
    expect(findBannedWords(tree)).toEqual([]);
  });

  test('has the texts of pages in catalogs only', () => {
    const components = [...tree].filter(
      ([path]) =>
        /^(?:studio|player)\//.test(path) && !/(?:\.test\.tsx?|\/texts\.ts|\.css)$/.test(path),
    );
    expect(components.length).toBeGreaterThan(200);
    const found = components.flatMap(([path, code]) =>
      findPageTexts(code).map((text) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

describe('the package', () => {
  test('contains exactly the sources that the program, the pages and the SDK reach', async () => {
    const pack = Bun.spawn(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      stderr: 'ignore',
    });
    const [{ files }] = (await new Response(pack.stdout).json()) as [{ files: { path: string }[] }];
    // Declarations of untyped packages are not imported.
    const isSource = (path: string) => tree.has(path) && !path.endsWith('.d.ts');
    const packed = files.map(({ path }) => path).filter(isSource);
    expect(packed.length).toBeGreaterThan(500);
    expect(packed.sort()).toEqual([...reachedFrom(tree, ENTRIES)].sort());
  });
});

describe('the rules find', () => {
  test.each([
    ['protocol/feed.ts', "import { seal } from '../server/realtime/seal.ts';"],
    ['server/auth/a.ts', "import type { Seal } from '../realtime/seal.ts';"],
    ['server/media/a.ts', "const seal = await import('../realtime/seal.ts');"],
    ['sdk/socket.ts', "export { seal } from '../server/realtime/seal.ts';"],
    ['server/realtime/a.ts', "import { fixture } from '../../test/support/fixture.ts';"],
  ])('a wrong import in %s: %s', (path, text) => {
    const target = { 'server/realtime/seal.ts': '', 'test/support/fixture.ts': '' };
    expect(findWrongImports(treeOf({ ...target, [path]: text }))).toHaveLength(1);
  });

  test('a cycle through types', () => {
    const cycle = treeOf({
      'sdk/a.ts': "import './b.ts';",
      'sdk/b.ts': "import type { A } from './a.ts';",
    });
    expect(findCycles(cycle)).toEqual(['sdk/a.ts → sdk/b.ts → sdk/a.ts']);
  });

  test('a read of the environment', () => {
    expect(findEnvReads(treeOf({ 'server/http/a.ts': 'process.env.PORT' }))).toHaveLength(1);
  });

  test.each([
    ['<h2 className="grid">Winners</h2>', ['Winners']],
    ['<p>{count} left</p>', [' left']],
    [`<p>{isNew ? "new" : \`\${count} old\`}</p>`, ['new', ' old']],
    ['<ul aria-label="winners" />', ['winners']],
    [`<img alt={\`poster of \${title}\`} />`, ['poster of ']],
    ['<TextField placeholder="name" title="Your name" />', ['name', 'Your name']],
    ['showSuccess("The show has started.")', ['The show has started.']],
    ['new StudioApiError(null, isTimeout ? "No response" : detail)', ['No response']],
    ['[["Created", date], ["Started", "not yet"]]', ['Created', 'Started', 'not yet']],
    [
      '<a title={texts.title} href="/streams" className={classes("grid gap", isOpen && "p-2")} />',
      [],
    ],
    ['<p>{state === "ready" && <>{count} · {texts.of(share)} %</>}</p>', []],
    ['{ throw new TypeError("The path needs a name"); }', []],
  ])('the texts of %s', (code, texts) => {
    expect(findPageTexts(`export const render = () => ${code};`)).toEqual(texts);
  });

  test('a banned word in a name, and none in a comment or a string', () => {
    const text = "const isAway = peersTold; // told\nconst text = 'away';";
    expect(findBannedWords(treeOf({ 'sdk/feed-utils.ts': text }))).toHaveLength(3);
  });
});

import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import {
  findCycles,
  findEmptyNames,
  findEnvReads,
  findImportsOfMain,
  findLongFiles,
  findWrongArrows,
  type SourceTree,
} from './support/architecture.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = 'protocol,server,sdk,player,studio,test,bench,scripts';

async function readTree(): Promise<SourceTree> {
  const glob = new Bun.Glob(`{${FOLDERS}}/**/*.{ts,tsx,mjs}`);
  const paths = (await Array.fromAsync(glob.scan({ cwd: root }))).sort();
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path, await Bun.file(`${root}/${path}`).text()] as const),
    ),
  );
}

function treeOf(files: Record<string, string>): SourceTree {
  return new Map(Object.entries(files));
}

const tree = await readTree();

describe('the source tree', () => {
  test('is really read', () => {
    expect(tree.has('test/support/architecture.ts')).toBe(true);
    expect(tree.has('scripts/start.mjs')).toBe(true);
    expect([...tree.keys()].some((path) => path.startsWith('protocol/'))).toBe(true);
    expect([...tree.keys()].some((path) => path.startsWith('server/'))).toBe(true);
  });

  test('imports along the arrows: pages → sdk → protocol, server → protocol', () => {
    expect(findWrongArrows(tree)).toEqual([]);
  });

  test('has no domain that imports server/main.ts', () => {
    expect(findImportsOfMain(tree)).toEqual([]);
  });

  test('reads the environment in server/main.ts, server/platform/config.ts and server/cli/ only', () => {
    expect(findEnvReads(tree)).toEqual([]);
  });

  test('has no file or folder with a name that says nothing', () => {
    expect(findEmptyNames(tree)).toEqual([]);
  });

  test('has no source file of more than 320 lines', () => {
    expect(findLongFiles(tree)).toEqual([]);
  });

  test('has no import cycle', () => {
    expect(findCycles(tree)).toEqual([]);
  });
});

describe('the rules see', () => {
  const target = {
    'server/main.ts': '',
    'server/feed/seal.ts': '',
    'protocol/interval.ts': '',
    'sdk/viewer.ts': '',
  };

  test('a program that imports from test/, which a test beside it may', () => {
    const text = "import { startRedis } from '../../test/backends/redis.ts';";
    const importedBy = (path: string) =>
      findWrongArrows(treeOf({ 'test/support/backends/redis.ts': '', [path]: text }));
    expect(importedBy('server/feed/log.test.ts')).toEqual([]);
    expect(importedBy('server/feed/log.ts')).toHaveLength(1);
  });

  test.each([
    ['protocol/feed.ts', "import { seal } from '../server/feed/seal.ts';"],
    ['protocol/feed.ts', "import type { Seal } from '../server/feed/seal.ts';"],
    ['protocol/feed.ts', "export { seal } from '../server/feed/seal.ts';"],
    ['protocol/feed.ts', "const seal = await import('../server/feed/seal.ts');"],
    ['protocol/feed.ts', "import {\n  seal,\n} from '../server/feed/seal.ts';"],
    ['protocol/feed.ts', "get('/media/*'); import '../server/feed/seal.ts'; /* end */"],
    ['protocol/feed.ts', "get('http://x'); import '../server/feed/seal.ts';"],
    ['server/web/page.ts', "import '../../sdk/viewer.ts';"],
    ['sdk/socket.ts', "import { seal } from '../server/feed/seal.ts';"],
    ['player/page.tsx', "import { seal } from '../server/feed/seal.ts';"],
  ])('a wrong arrow in %s: %s', (path, text) => {
    expect(findWrongArrows(treeOf({ ...target, [path]: text }))).toHaveLength(1);
  });

  test('no wrong arrow where the arrows allow it', () => {
    const allowed = treeOf({
      ...target,
      'server/feed/feed.ts': "import '../../protocol/interval.ts'; import './seal.ts';",
      'player/page.tsx': "import '../sdk/viewer.ts';",
      'test/feed.test.ts': "import '../server/main.ts';",
      'protocol/feed.ts': "// import '../server/feed/seal.ts';\n/* from '../server/main.ts' */",
    });
    expect(findWrongArrows(allowed)).toEqual([]);
  });

  test('a domain that imports server/main.ts', () => {
    const bad = treeOf({ ...target, 'server/feed/feed.ts': "import { run } from '../main.ts';" });
    expect(findImportsOfMain(bad)).toEqual(['server/feed/feed.ts imports server/main.ts']);
  });

  test.each([
    'process.env.PORT',
    'Bun.env.PORT',
    'import.meta.env.PORT',
    'const { env } = { env: process.env }',
  ])('a read of the environment: %s', (text) => {
    expect(findEnvReads(treeOf({ 'server/feed/feed.ts': text }))).toHaveLength(1);
    expect(findEnvReads(treeOf({ 'server/main.ts': text, 'server/cli/key.ts': text }))).toEqual([]);
  });

  test.each([
    'server/utils/text.ts',
    'server/feed/feed-helpers.ts',
    'server/quizManager/manager.ts',
    'protocol/common.ts',
    'sdk/misc.tsx',
  ])('the empty name of %s', (path) => {
    expect(findEmptyNames(treeOf({ [path]: '' }))).toHaveLength(1);
  });

  test('a file of 321 lines, and none of 320', () => {
    expect(findLongFiles(treeOf({ 'server/a.ts': 'x\n'.repeat(321) }))).toHaveLength(1);
    expect(findLongFiles(treeOf({ 'server/a.ts': 'x\n'.repeat(320) }))).toEqual([]);
    expect(findLongFiles(treeOf({ 'server/a.test.ts': 'x\n'.repeat(900) }))).toEqual([]);
  });

  test('a cycle, through types as well, and no cycle in a diamond', () => {
    const cycle = treeOf({
      'server/a.ts': "import './b.ts';",
      'server/b.ts': "import type { C } from './c.ts';",
      'server/c.ts': "import './a.ts';",
    });
    expect(findCycles(cycle)).toEqual(['server/a.ts → server/b.ts → server/c.ts → server/a.ts']);
    const diamond = treeOf({
      'server/a.ts': "import './b.ts'; import './c.ts';",
      'server/b.ts': "import './d.ts';",
      'server/c.ts': "import './d.ts';",
      'server/d.ts': '',
    });
    expect(findCycles(diamond)).toEqual([]);
  });
});

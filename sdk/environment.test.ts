import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { realEnvironment } from './environment.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Tests, and what they are made with. */
const SUPPORT = /\.test\.ts$|^fake-machine\.ts$|^virtual-time\/|-ground\.ts$/;
const COMMENT_OR_TEXT = /'(?:\\.|[^'\\\n])*'|\/\*[\s\S]*?\*\/|\/\/.*/g;
/** Whatever a test could not put something else in the place of. */
const MACHINE =
  /\bDate\.now|\bnew Date\b|\bMath\.random|(?<![.#\w])(?:fetch|setTimeout|setInterval|setImmediate|queueMicrotask|requestAnimationFrame|performance|crypto|localStorage|document|window|navigator)\b(?!\??:| =|,| })/g;

function readsMachine(text: string): string[] {
  return text.replace(COMMENT_OR_TEXT, '').match(MACHINE) ?? [];
}

async function sources(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const path of new Bun.Glob('**/*.ts').scan({ cwd: here })) {
    if (!SUPPORT.test(path)) found.set(path, await Bun.file(here + path).text());
  }
  return found;
}

describe('the machine', () => {
  test('is read in environment.ts alone', async () => {
    const readers = [...(await sources())]
      .map(([path, text]) => `${path}: ${readsMachine(text).join(' ')}`)
      .filter((line) => !line.endsWith(': ') && !line.startsWith('environment.ts'));
    expect(readers).toEqual([]);
  });

  test.each([
    'const now = Date.now();',
    'setTimeout(run, 5)',
    'await fetch(url)',
    'return performance.now()',
    'const chance = Math.random();',
    'localStorage.getItem(key)',
  ])('would be found: %s', (text) => {
    expect(readsMachine(text)).toHaveLength(1);
  });

  test('is there, without a page', async () => {
    const env = realEnvironment();
    expect(env.visibility).toBeNull();
    expect(env.canStream).toBe(true);
    expect(Math.abs(env.systemMs() - Date.now())).toBeLessThan(1_000);
    expect(env.monotonicMs()).toBeLessThanOrEqual(env.monotonicMs());
    const chance = env.random();
    expect(chance >= 0 && chance < 1).toBe(true);
    await new Promise<void>((resolve) => env.after(1, resolve));
    env.after(1, () => expect.unreachable())();
  });
});

test('what the SDK uses of the protocol brings nothing along', async () => {
  const imported = new Set<string>();
  for (const [, text] of await sources()) {
    for (const [, path] of text.matchAll(/from '(?:\.\.\/)+protocol\/([^']+)'/g)) {
      if (path) imported.add(path);
    }
  }
  expect([...imported].sort()).toEqual(['interval.ts', 'limits.ts']);
});

import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { realEnvironment } from './environment.ts';

const sdkDir = fileURLToPath(new URL('.', import.meta.url));

const TEST = /\.test\.ts$/;
const COMMENT_OR_TEXT = /'(?:\\.|[^'\\\n])*'|\/\*[\s\S]*?\*\/|\/\/.*/g;
/** Globals that tests can replace only through `Environment`. */
const PLATFORM =
  /\bDate\.now|\bnew Date\b|\bMath\.random|(?<![.#\w])(?:fetch|setTimeout|setInterval|setImmediate|queueMicrotask|requestAnimationFrame|performance|crypto|localStorage|document|window|navigator)\b(?!\??:| =|,| })/g;

function platformUses(text: string): string[] {
  return text.replace(COMMENT_OR_TEXT, '').match(PLATFORM) ?? [];
}

async function sources(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const path of new Bun.Glob('**/*.ts').scan({ cwd: sdkDir })) {
    if (!TEST.test(path)) files.set(path, await Bun.file(sdkDir + path).text());
  }
  return files;
}

describe('the platform', () => {
  test('is used in environment.ts only', async () => {
    const readers = [...(await sources())]
      .map(([path, text]) => `${path}: ${platformUses(text).join(' ')}`)
      .filter((line) => !line.endsWith(': ') && !line.startsWith('environment.ts'));
    expect(readers).toEqual([]);
  });

  test.each([
    'const now = Date.now();',
    'setTimeout(run, 5)',
    'await fetch(url)',
    'return performance.now()',
    'const value = Math.random();',
    'localStorage.getItem(key)',
  ])('is detected in: %s', (text) => {
    expect(platformUses(text)).toHaveLength(1);
  });

  test('works without a page', async () => {
    const env = realEnvironment();
    expect(env.visibility).toBeNull();
    expect(env.canStream).toBe(true);
    expect(Math.abs(env.systemMs() - Date.now())).toBeLessThan(1_000);
    expect(env.monotonicMs()).toBeLessThanOrEqual(env.monotonicMs());
    const value = env.random();
    expect(value >= 0 && value < 1).toBe(true);
    await new Promise<void>((resolve) => env.after(1, resolve));
    env.after(1, () => expect.unreachable())();
  });
});

test('the SDK imports only modules of the protocol without dependencies', async () => {
  const imported = new Set<string>();
  for (const [, text] of await sources()) {
    for (const [, path] of text.matchAll(/from '(?:\.\.\/)+protocol\/([^']+)'/g)) {
      if (path) imported.add(path);
    }
  }
  expect([...imported].sort()).toEqual(['interval.ts', 'limits.ts']);
});

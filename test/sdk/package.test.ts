import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The package, installed in a project outside of the repository.

const root = fileURLToPath(new URL('../..', import.meta.url));
const MAIN_MAX_BYTES = 8 * 1024;

let project: string;
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'fourbeat-app-'));
  const packageDir = join(project, 'made');
  const installed = join(project, 'node_modules', '@fourbeat', 'viewer');
  mkdirSync(installed, { recursive: true });
  await run('node', join(root, 'scripts/build-sdk.mjs'), packageDir);
  const [packed] = JSON.parse(await run('npm', 'pack', packageDir, '--json'));
  await run('tar', '-xzf', packed.filename, '-C', installed, '--strip-components=1');
  mkdirSync(join(project, 'node_modules', '@types'));
  for (const name of ['react', '@types/react', 'csstype']) {
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
}, 60_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Runs a program in the project. @returns its stdout @throws Error with its output when it fails */
async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: project, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(stdout + stderr);
  return stdout;
}

const APP = `
  import { join, FourbeatError } from '@fourbeat/viewer';
  import { mockService } from '@fourbeat/viewer/mock';
  import { hlsPicture } from '@fourbeat/viewer/pictures';
  import { useViewer } from '@fourbeat/viewer/react';
  const service = mockService();
  const viewer = join({
    baseUrl: 'https://live.example',
    streamId: service.streamId,
    viewerId: 'ada',
    environment: { fetch: service.fetch },
  });
  const refused = await viewer.answer('Mars').catch((error) => error);
  await new Promise((resolve) => viewer.on('view-count', resolve));
  viewer.follow(hlsPicture({ playingDate: new Date() }));
  console.log(viewer.state, refused instanceof FourbeatError, typeof useViewer);
  viewer.leave();
`;

// An app, checked with strict compiler options.
const TYPED_APP = `
  import {
    type AnswerOutcome,
    type Environment,
    join,
    type Snapshot,
    type Storage,
    FourbeatError,
    type Viewer,
    type Visibility,
  } from '@fourbeat/viewer';
  import { type MockService, mockService } from '@fourbeat/viewer/mock';
  import { nativePicture, pictureOf } from '@fourbeat/viewer/pictures';
  import { useRemainingMs, useSnapshot, useViewer } from '@fourbeat/viewer/react';

  declare module '@fourbeat/viewer' {
    interface EventData {
      'x-goal': { team: string };
    }
  }

  const service: MockService = mockService({ latencyAllowanceMs: 1_000 });
  const viewer: Viewer = join({ baseUrl: '', streamId: service.streamId, viewerId: 'ada' });
  viewer.on('quiz', ({ order }) => order.map((choice: string) => choice.length));
  viewer.on('change', ({ messages }: Snapshot) => messages.at(-1)?.kind);
  viewer.on('x-other', (data: unknown) => data);
  // Event types of the producer, as in the README.
  viewer.on('x-goal', ({ team }) => team.length);
  export type Machine = [Environment, Storage, Visibility];
  viewer.follow(pictureOf(() => null));
  viewer.follow(nativePicture(document.createElement('video')));
  export const outcome: Promise<AnswerOutcome | number | null> = viewer
    .answer('Mars')
    .catch((thrown: unknown) => (thrown instanceof FourbeatError ? thrown.retryAfterMs : 0));

  export function useCount(streamId: string | null): [string | undefined, number] {
    const own = useViewer(streamId === null ? null : { baseUrl: '', streamId, viewerId: 'ada' });
    return [useSnapshot(own)?.count?.formatted, useRemainingMs(own)];
  }

  // @ts-expect-error: the URL of the service is missing
  join({ streamId: 'stream', viewerId: 'ada' });
  // @ts-expect-error: there is no such kind
  viewer.sendMessage('shout', 'Hello');
`;

describe('the package', () => {
  test('has its entries, types, license and README only', () => {
    const files = readdirSync(join(project, 'node_modules/@fourbeat/viewer'));
    const others = files.filter((file) => !file.endsWith('.d.ts'));
    expect(others.sort()).toEqual([
      'LICENSE',
      'README.md',
      'index.js',
      'mock',
      'mock.js',
      'package.json',
      'pictures.js',
      'react.js',
    ]);
  });

  test('has a main entry of less than 8 KB gzipped, without imports', async () => {
    const measured = await run(
      'node',
      '--input-type=module',
      '--eval',
      `import { gzipSync } from 'node:zlib';
      import { readFileSync } from 'node:fs';
      const text = readFileSync('node_modules/@fourbeat/viewer/index.js');
      console.log(gzipSync(text, { level: 9 }).length, /\\bimport\\b/.test(text));`,
    );
    const [bytes, hasImports] = measured.trim().split(' ');
    expect(Number(bytes)).toBeGreaterThan(0);
    expect(Number(bytes)).toBeLessThan(MAIN_MAX_BYTES);
    expect(hasImports).toBe('false');
  });

  test.each([
    ['Node', 'node'],
    ['Bun', process.execPath],
  ])('runs in %s', async (_, runtime) => {
    await Bun.write(join(project, 'app.mjs'), APP);
    expect(await run(runtime, 'app.mjs')).toBe('live true function\n');
  });

  test('runs the example of the mock’s README', async () => {
    const readme = await Bun.file(join(root, 'sdk/mock/README.md')).text();
    const [, example = ''] = /```ts\n(import .*?)```/s.exec(readme) ?? [];
    const inBun = example.replace(`from 'vitest'`, `from 'bun:test'`);
    await Bun.write(join(project, 'app.test.ts'), inBun);
    await run(process.execPath, 'test', 'app.test.ts');
  });

  test.each(['nodenext', 'bundler'])(
    'has types for a strict project with the module resolution %s',
    async (resolution) => {
      await Bun.write(join(project, 'typed.ts'), TYPED_APP);
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2022', 'dom'],
        module: resolution === 'bundler' ? 'esnext' : resolution,
        moduleResolution: resolution,
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        verbatimModuleSyntax: true,
        noEmit: true,
      };
      const config = { compilerOptions, files: ['typed.ts'] };
      await Bun.write(join(project, 'tsconfig.json'), JSON.stringify(config));
      await Bun.write(join(project, 'package.json'), '{ "type": "module" }');
      expect(await run('node', join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')).toBe('');
    },
  );
});

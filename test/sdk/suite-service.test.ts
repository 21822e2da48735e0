import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Harness, startService } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { SUITE, type SuiteResult } from '../support/sdk/suite.ts';

// The suite with a real service, in each runtime, with the published form of the SDK.

/** Time limit of all cases together, on a busy machine. */
const RUN_MS = 60_000;

let service: Harness;
let directory: string;
beforeAll(async () => {
  service = await startService({ clock: 'real' });
  directory = mkdtempSync(joinPath(tmpdir(), 'fourbeat-sdk-'));
  await buildSdk();
}, RUN_MS);
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Builds the published form of the SDK, with the suite. */
async function buildSdk(): Promise<void> {
  const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const build = Bun.spawn(['node', pathOf('../../scripts/build-sdk.mjs'), directory], {
    stderr: 'pipe',
  });
  if ((await build.exited) !== 0) throw new Error(await new Response(build.stderr).text());
  const entrypoints = [pathOf('../support/sdk/suite-program.ts')];
  await Bun.build({ entrypoints, outdir: directory, target: 'browser' });
}

/** A function for the tested runtime, as source text; `root` is the location of the built files. */
const PROGRAM = `async ({ root, url, token }) => {
  const [{ join }, { pictureOf }, { runOnService }] = await Promise.all(
    ['index', 'pictures', 'suite-program'].map((name) => import(root + '/' + name + '.js')),
  );
  return runOnService({ join, pictureOf }, url, token);
}`;

function programInput(root: string, url = service.url) {
  return JSON.stringify({ root, url, token: service.account.token });
}

async function runInProcess(...command: string[]): Promise<SuiteResult[]> {
  const program = `(${PROGRAM})(${programInput(directory)})`;
  const printed = `console.log(JSON.stringify(await ${program})); process.exit()`;
  const run = Bun.spawn([...command, printed], {
    stderr: 'pipe',
    env: { ...Bun.env, NO_COLOR: '1' },
  });
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  if ((await run.exited) !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** The page has another origin than the service, as an app has. */
async function runInBrowser(): Promise<SuiteResult[]> {
  const app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('.js')) return new Response(Bun.file(directory + pathname));
      return new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } });
    },
  });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(app.url.href);
    const url = service.url.replace('127.0.0.1', '*.localhost');
    return await page.evaluate<SuiteResult[]>(`(${PROGRAM})(${programInput(app.url.origin, url)})`);
  } finally {
    await browser.close();
    await app.stop(true);
  }
}

describe.each([
  ['Bun', () => runInProcess(process.execPath, '-e')],
  ['Node', () => runInProcess('node', '--input-type=module', '-e')],
  ['Chromium', runInBrowser],
] as const)('in %s', (_, run) => {
  let results: SuiteResult[];
  beforeAll(async () => {
    results = await run();
  }, RUN_MS);

  test.each(Object.keys(SUITE))('%s', (title) => {
    expect(results.find((result) => result.title === title)?.error).toBeNull();
  });
});

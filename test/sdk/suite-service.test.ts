import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { type Harness, startService } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { buildSdk } from '../support/sdk/built-sdk.ts';
import { SUITE, type SuiteResult } from '../support/sdk/suite.ts';

// The suite with a real service, in each runtime, with the published form of the SDK.

/** Time limit of all cases together, on a busy machine. */
const RUN_MS = 60_000;

let service: Harness;
let directory: string;
beforeAll(async () => {
  service = await startService({ clock: 'real' });
  directory = mkdtempSync(joinPath(tmpdir(), 'fourbeat-sdk-'));
  await buildSdk(directory);
}, RUN_MS);
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs in the runtime; `root` is the location of the files. */
const PROGRAM = `async ({ root, url, token }) => {
  const [{ join }, { pictureOf }, { runOnService }] = await Promise.all(
    ['index', 'pictures', 'suite-program'].map((name) => import(root + '/' + name + '.js')),
  );
  return runOnService({ join, pictureOf }, url, token);
}`;

function programInput(root: string, url = service.url) {
  return JSON.stringify({ root, url, token: service.account.token });
}

async function inProcess(...command: string[]): Promise<SuiteResult[]> {
  const program = `(${PROGRAM})(${programInput(directory)})`;
  const run = Bun.spawn(
    [...command, `console.log(JSON.stringify(await ${program})); process.exit()`],
    {
      stderr: 'pipe',
      env: { ...Bun.env, NO_COLOR: '1' },
    },
  );
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  if ((await run.exited) !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** The page has another origin than the service, as that of an app. */
async function inBrowser(): Promise<SuiteResult[]> {
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
  ['Bun', () => inProcess(process.execPath, '-e')],
  ['Node', () => inProcess('node', '--input-type=module', '-e')],
  ['Chromium', inBrowser],
] as const)('in %s', (_, run) => {
  let results: SuiteResult[];
  beforeAll(async () => {
    results = await run();
  }, RUN_MS);

  test.each(Object.keys(SUITE))('%s', (title) => {
    expect(results.find((result) => result.title === title)?.error).toBeNull();
  });
});

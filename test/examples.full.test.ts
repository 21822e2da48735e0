import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server, Subprocess } from 'bun';
import type { Browser, Page } from 'playwright-core';
import { type Account, expectJson, type PublishedQuiz, QUIZ } from './support/harness/harness.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from './support/harness/program.ts';
import { launchBrowser } from './support/media/browser.ts';
import { playTestPicture } from './support/media/test-source.ts';
import { until } from './support/until.ts';

// Runs the examples as their README says: with the built SDK, against a service.

const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const PACKAGES = ['hls.js', 'react', 'react-dom', '@types/react', '@types/react-dom', 'csstype'];
// The least encoding work, and the shortest video latency.
const MEDIA = ['--rtmp-port', 'off', '--srt-port', 'off', '--media-preset', 'ultrafast'];
const LOW_LATENCY = ['--media-latency', 'low', '--media-segment', '500'];

// The tests run concurrently, and each starts a browser or a program.
const TEST_MS = 40_000;

const folder = temporaryFolder();
let service: ServerProcess;
let account: Account;
/** Serves the pages of the examples, from another origin than the service. */
let shop: Server<undefined>;
let browser: Browser | null = null;
let source: Subprocess | null = null;
const programs: Program[] = [];

beforeAll(async () => {
  const data = ['--data', folder.path('data')];
  const ann = ['--email', 'ann@example.org', '--name', 'Ann'];
  const made = fourbeat(['account', 'create', ...ann, ...data]);
  installPackages();
  shop = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => new Response(Bun.file(folder.path(new URL(request.url).pathname))),
  });
  account = JSON.parse((await made).stdout);
  service = await serveProcess([...data, ...MEDIA, ...LOW_LATENCY]);
}, 60_000);
afterAll(async () => {
  source?.kill();
  await source?.exited;
  await Promise.all(programs.map((program) => program.interrupt()));
  await browser?.close();
  await shop?.stop(true);
  await killServers();
  folder.remove();
});

/** Links and builds the packages that `npm install` would install. */
function installPackages(): void {
  const packages = folder.path('node_modules');
  const sdk = join(packages, '@fourbeat', 'viewer');
  mkdirSync(join(packages, '@types'), { recursive: true });
  for (const name of PACKAGES) symlinkSync(root(`node_modules/${name}`), join(packages, name));
  const built = spawnSync(process.execPath, [root('scripts/build-sdk.mjs'), sdk], {
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stderr);
}

/** Copies an example and fills in its placeholders, as its reader would. @returns its folder */
function copy(name: string, streamId = 'STREAM'): string {
  const path = folder.path(name);
  mkdirSync(path);
  symlinkSync(folder.path('node_modules'), join(path, 'node_modules'));
  for (const file of readdirSync(root(`examples/${name}`))) {
    const text = readFileSync(root(`examples/${name}/${file}`), 'utf8')
      .replaceAll('https://live.example', service.url)
      .replaceAll('https://shop.example', shop.url.origin)
      .replaceAll('STREAM', streamId);
    writeFileSync(join(path, file), text);
  }
  return path;
}

function studio(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${service.url}/studio/v1${path}`, {
    method,
    headers: { Authorization: `Token ${account.token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function createStream(fields: Record<string, unknown> = {}): Promise<string> {
  const stream = await studio('POST', '/streams', { title: 'A show', ...fields });
  return (await expectJson<{ id: string }>(stream, 201)).id;
}

async function publishQuiz(streamId: string): Promise<PublishedQuiz> {
  const draft = await studio('POST', `/streams/${streamId}/quizzes`, {
    ...QUIZ,
    duration: 4_000,
  });
  const { id } = await expectJson<{ id: string }>(draft, 201);
  return expectJson(await studio('POST', `/quizzes/${id}/publish`), 200);
}

/** Exports the answers that the service has recorded. */
async function answersOf(streamId: string): Promise<[quizId: string, choice: string][]> {
  const rows = await (await studio('GET', `/streams/${streamId}/exports/answers`)).text();
  return rows
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row))
    .map(({ quizId, choice }) => [quizId, choice]);
}

/** A running example program and its output. */
class Program {
  output = '';
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(program: string, args: string[]) {
    // A process group, as in a terminal, so that SIGINT also reaches the program's children.
    this.child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const pipe of [this.child.stdout, this.child.stderr]) {
      pipe?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
    this.exited = new Promise((resolve) => this.child.on('exit', resolve));
    programs.push(this);
  }

  /** Waits for output that matches. @returns the first group of the pattern */
  async waitForOutput(pattern: RegExp): Promise<string> {
    const match = await until(`${pattern}`, () => pattern.exec(this.output)).catch((error) => {
      throw new Error(`${error.message} in: ${this.output}`);
    });
    return match[1] ?? '';
  }

  /** Sends SIGINT (Ctrl-C). @returns the exit status; null when the signal ended the program */
  interrupt(): Promise<number | null> {
    const { pid, exitCode, signalCode } = this.child;
    if (pid && exitCode === null && signalCode === null) process.kill(-pid, 'SIGINT');
    return this.exited;
  }
}

describe.concurrent('the example', () => {
  test(
    'node-bot is counted, says hello, answers and finds out whether it has won',
    async () => {
      const streamId = await createStream();
      const bot = new Program('node', [join(copy('node-bot'), 'bot.mjs'), service.url, streamId]);
      await bot.waitForOutput(/^1 watching$/m);
      const { id } = await publishQuiz(streamId);
      const choice = await bot.waitForOutput(/^Which planet is the largest\? I say: (.+)$/m);
      await bot.waitForOutput(/^My answer: counted$/m);
      const percentage = await bot.waitForOutput(/^It is Jupiter, said (\d+) %$/m);
      expect(percentage).toBe(choice === QUIZ.answer ? '100' : '0');
      expect(await answersOf(streamId)).toEqual([[id, choice]]);
      await expectJson(await studio('POST', `/streams/${streamId}/request-winners`), 201);
      const won = await bot.waitForOutput(/^(\d won.*)$/m);
      expect(won).toBe(choice === QUIZ.answer ? '1 won, and I am one of them' : '0 won');
      const feed = await studio('GET', `/streams/${streamId}/exports/feed`);
      expect(await feed.text()).toContain('Hello from a bot!');
      expect(await bot.interrupt()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'curl gets a token and sends an answer that is counted',
    async () => {
      const streamId = await createStream();
      const viewer = new Program('sh', [join(copy('curl'), 'viewer.sh'), service.url, streamId]);
      await viewer.waitForOutput(/^watching: 1$/m);
      const { id } = await publishQuiz(streamId);
      await viewer.waitForOutput(/^answered: "Mars"$/m);
      expect(await viewer.waitForOutput(/^results: .*"answer":"(\w+)"/m)).toBe(QUIZ.answer);
      expect(await answersOf(streamId)).toEqual([[id, 'Mars']]);
      await viewer.interrupt();
      expect(viewer.output).not.toContain('error');
    },
    TEST_MS,
  );

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  test(
    'plain-html shows the quiz with the picture, not before it',
    async () => {
      const streamId = await createStream({ latencyAllowance: 3_000 });
      source = await playTestPicture({ url: service.url, account }, streamId);
      copy('plain-html', streamId);
      const { page, errors } = await openPage('plain-html/index.html');
      await waitForText(page, '#count', '1');
      await until('the picture', () =>
        page.evaluate<boolean>("document.querySelector('video').currentTime > 0"),
      );
      const { id, created } = await publishQuiz(streamId);
      await waitForText(page, '#question', QUIZ.question);
      // The page delays the quiz until its moment in the video, 750 ms or more after the service.
      expect(Date.now() - created).toBeGreaterThan(750);
      await waitForText(page, '#left', 's left');
      await page.getByRole('button', { name: 'Jupiter' }).click();
      await waitForText(page, '#outcome', 'counted');
      await waitForText(page, '#outcome', 'It is Jupiter.');
      await page.getByRole('button', { name: 'Jupiter: 100 %', pressed: true }).waitFor();
      expect(await answersOf(streamId)).toEqual([[id, 'Jupiter']]);
      await page.context().close();
      expect(errors).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'react shows count, hearts and quiz, and passes its type check',
    async () => {
      const streamId = await createStream();
      const path = copy('react', streamId);
      const types = Bun.spawn(['node', root('node_modules/typescript/bin/tsc'), '-p', path]);
      const { outputs } = await Bun.build({
        entrypoints: [join(path, 'index.html')],
        outdir: folder.path('react-built'),
      });
      expect(outputs.map(({ type }) => type)).toContain('text/html;charset=utf-8');
      const { page, errors } = await openPage('react-built/index.html');
      await page.getByText('1 watching').waitFor();
      await page.getByRole('button', { name: '♥ 0' }).click();
      await page.getByRole('button', { name: '♥ 1' }).waitFor();
      const { id } = await publishQuiz(streamId);
      await page.getByRole('heading', { name: QUIZ.question }).waitFor();
      await page.getByRole('button', { name: 'Jupiter' }).click();
      await page.getByText('counted').waitFor();
      await page.getByText('It is Jupiter.').waitFor();
      await page.getByRole('button', { name: 'Jupiter 100 %', pressed: true }).waitFor();
      expect(await answersOf(streamId)).toEqual([[id, 'Jupiter']]);
      await page.context().close();
      expect(errors).toEqual([]);
      expect([await types.exited, await types.stdout.text()]).toEqual([0, '']);
    },
    TEST_MS,
  );

  test(
    'embed shows the whole page in one line, and exchanges messages with it',
    async () => {
      const streamId = await createStream();
      copy('embed', streamId);
      const plain = await openPage('embed/one-line.html');
      await plain.page.frameLocator('iframe').getByRole('main').waitFor();
      await plain.page.context().close();
      const { page, errors } = await openPage('embed/bridge.html');
      await waitForText(page, '#count', '1');
      const { id } = await publishQuiz(streamId);
      await waitForText(page, '#quiz', QUIZ.question);
      await page.frameLocator('#show').getByRole('button', { name: 'Jupiter' }).click();
      await waitForText(page, '#quiz', 'You said Jupiter: counted.');
      await waitForText(page, '#quiz', 'It is Jupiter.');
      expect(await answersOf(streamId)).toEqual([[id, 'Jupiter']]);
      const offer = { type: 'x-offer', data: { text: 'A mug for you' } };
      await expectJson(await studio('POST', `/streams/${streamId}/events`, offer), 201);
      await waitForText(page, '#offer', 'A mug for you');
      await page.getByRole('button', { name: 'Sound off' }).click();
      await page.getByRole('button', { name: 'Sound on' }).waitFor();
      await page.context().close();
      expect([...plain.errors, ...errors]).toEqual([]);
    },
    TEST_MS,
  );
});

/** Opens a page of the examples. @returns the page and its uncaught errors */
async function openPage(path: string): Promise<{ page: Page; errors: string[] }> {
  if (!browser) throw new Error('the browser is not started');
  const page = await (await browser.newContext()).newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(`${shop.url.origin}/${path}`);
  return { page, errors };
}

function waitForText(page: Page, selector: string, text: string): Promise<void> {
  return page.locator(selector, { hasText: text }).waitFor({ timeout: 15_000 });
}

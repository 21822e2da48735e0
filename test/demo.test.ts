import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../demo/children.ts';
import { runDemo } from '../demo/demo.ts';
import { plainScreen, type Screen } from '../demo/screen/screen.ts';
import { IS_FULL_RUN } from './support/full-run.ts';
import { ExternalViewer } from './support/harness/external-viewer.ts';
import { startSabotagedServer } from './support/harness/sabotaged-server.ts';

const MAIN = join(import.meta.dir, '..', 'server', 'main.ts');
const RUN_MS = 60_000;
const SECOND_JOINS_MS = 6_000;
const directory = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
const started: Bun.Subprocess[] = [];

function startDemo(...args: string[]) {
  return startDemoIn({}, ...args);
}

function startDemoIn(env: Record<string, string>, ...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, 'demo', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: directory, ...env },
  });
  started.push(child);
  return child;
}

async function outcomeOf(child: ReturnType<typeof startDemo>) {
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, output, errors };
}

/** The running descendants of a process. */
function descendantsOf(pid: number): { pid: number; program: string }[] {
  const { stdout } = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid=,stat=,comm=']);
  const all = stdout
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith('Z'))
    .map(([child, parent, , program = '']) => ({ pid: Number(child), parent, program }));
  const of = (parent: number): typeof all =>
    all.filter((each) => Number(each.parent) === parent).flatMap((each) => [each, ...of(each.pid)]);
  return of(pid);
}

/** Whether a process runs; a zombie does not. */
function isRunning(pid: number): boolean {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)]);
  const state = stdout.toString().trim();
  return state !== '' && !state.startsWith('Z');
}

/** Runs a demo to which two external viewers come: one among the crowd's arrivals, one in the middle. */
async function runVisited() {
  const lines: string[] = [];
  const externalViewers: ExternalViewer[] = [];
  const attending: Promise<void>[] = [];
  const invitations: Promise<unknown>[] = [];
  const plain = plainScreen((line) => void lines.push(line));
  const screen: Screen = {
    ...plain,
    update: (before, show, report) => {
      plain.update(before, show, report);
      if (invitations.length === 0) invitations.push(readInvitation(lines.join('\n')));
      if (externalViewers.length >= (show.elapsedMs < SECOND_JOINS_MS ? 1 : 2)) return;
      const externalViewer = new ExternalViewer(
        show.origin,
        show.streamId,
        `external viewer ${externalViewers.length}`,
      );
      externalViewers.push(externalViewer);
      attending.push(externalViewer.watch().catch(() => {}));
    },
    close: () => {
      for (const externalViewer of externalViewers) externalViewer.leave();
      plain.close();
    },
  };
  const status = await runDemo(
    { viewers: 20, port: 0, quizEvery: 4, duration: 17, plain: true, video: IS_FULL_RUN },
    { startServer, screen: () => screen },
  );
  await Promise.all(attending);
  const [link] = await Promise.all(invitations);
  return {
    status,
    output: lines.join('\n'),
    link,
    externalViewers: externalViewers.map(({ statuses }) => statuses),
  };
}

/** Reads the invitation behind the link that a demo has printed. */
async function readInvitation(output: string): Promise<unknown> {
  const [, origin, token] = /(http:\S+)\/studio\/#invitation=(\S+)/.exec(output) ?? [];
  const response = await fetch(`${origin}/studio/v1/invitations/look`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return response.json();
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(50);
}

/** Reads the output of a demo until a line has this text. */
async function readUntil(child: ReturnType<typeof startDemo>, text: string): Promise<string> {
  let output = '';
  const found = Promise.withResolvers<string>();
  const readOn = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      output += decoder.decode(chunk, { stream: true });
      if (output.includes(text)) found.resolve(output);
    }
    found.resolve(output);
  };
  // Read to the end: a demo exits when its standard output is closed.
  void readOn();
  return found.promise;
}

/** Runs three shows concurrently: a complete one, a sabotaged one, and one with external viewers. */
async function runShows() {
  const args = ['--viewers', '30', '--quiz-every', '5', '--duration', '20', '--plain'];
  const lines: string[] = [];
  const sabotage = {
    startServer: startSabotagedServer,
    screen: () => plainScreen((line) => void lines.push(line)),
  };
  const [complete, sabotagedStatus, visited] = await Promise.all([
    outcomeOf(startDemo(...args)),
    runDemo(
      { viewers: 30, port: 0, quizEvery: 3, duration: 17, plain: true, video: IS_FULL_RUN },
      sabotage,
    ),
    runVisited(),
  ]);
  return [complete, { status: sabotagedStatus, output: lines.join('\n') }, visited] as const;
}

let shows: ReturnType<typeof runShows>;

beforeAll(() => {
  shows = runShows();
  // The tests that await the shows report a failure.
  shows.catch(() => {});
});
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

// These tests run at the same time as the shows.
describe('a demo without video', () => {
  const args = ['--viewers', '5', '--duration', '2', '--plain'];

  test(
    '[M-44] without ffmpeg prints how to install it and runs everything else',
    async () => {
      const { status, output, errors } = await outcomeOf(startDemoIn({ PATH: directory }, ...args));
      const [, second] = output.split('\n');
      expect(second).toMatch(/^This show is without video\. ffmpeg was not found.* Install it: .+/);
      expect(output).not.toContain('/watch/');
      expect(output).toContain('viewers · interval');
      expect([status, errors]).toEqual([0, '']);
    },
    RUN_MS,
  );

  test.skipIf(!IS_FULL_RUN)(
    '[O-17] with --no-video starts no encoder',
    async () => {
      const child = startDemo('--viewers', '20', '--no-video');
      await readUntil(child, 'viewers ·');
      const started = descendantsOf(child.pid);
      expect(started.length).toBe(2);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
    },
    RUN_MS,
  );
});

describe('a demo that runs to its end', () => {
  let outcome: Awaited<ReturnType<typeof outcomeOf>>;
  let sabotaged: { status: number; output: string };
  let visited: Awaited<ReturnType<typeof runVisited>>;

  beforeAll(async () => {
    [outcome, sabotaged, visited] = await shows;
  }, RUN_MS);

  test('[O-17] has quizzes, results and a winners round', () => {
    const { output } = outcome;
    for (const number of [1, 2, 3]) {
      expect(output).toContain(`quiz ${number}: `);
      expect(output).toContain(`results of quiz ${number}: `);
    }
    expect(output).toMatch(/winners of round 1: \d+/);
    expect(output).toMatch(/\b30 at most, of 30/);
  });

  test('[O-18] passes all checks and exits with 0', () => {
    expect(outcome.errors).toBe('');
    for (const check of ['count', 'bodies', 'intervals', 'answers', 'winners', 'events']) {
      expect(outcome.output).toMatch(new RegExp(`${check} +ok: [1-9]`));
    }
    expect(outcome.status).toBe(0);
  });

  test('[O-19] prints plain lines without a terminal', () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(outcome.output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(outcome.output.match(/ viewers · interval \d+ · /g)?.length).toBeGreaterThan(15);
  });

  test('[M-45] publishes video in three renditions and prints the watch page', () => {
    expect(outcome.output).toMatch(/^Watch it: http:\/\/localhost:\d+\/watch\/[0-9a-f-]{36}$/m);
    const sizes = '426x240, 214x120, 142x80';
    expect(outcome.output).toMatch(new RegExp(`video: live · newest segment .* ago · ${sizes}`));
    expect(outcome.output).not.toContain('video: unavailable');
  });

  test('[O-18] reports every mismatch of a sabotaged service and exits with 1', () => {
    for (const check of ['count', 'bodies', 'intervals', 'answers', 'winners', 'events']) {
      expect(sabotaged.output).toContain(`MISMATCH in ${check}: `);
    }
    expect(sabotaged.output).toContain('checks FAILED');
    expect(sabotaged.status).toBe(1);
  });

  test('[O-18] reports no mismatch for viewers from outside who answer, win and chat', () => {
    const [first, second] = visited.externalViewers;
    expect(first?.answers.slice(0, 3)).toEqual([204, 204, 204]);
    expect(first?.wins[0]).toBe(204);
    expect(first?.chats).toEqual([204, 204]);
    expect(second?.answers).toContain(204);
    expect(visited.output).not.toContain('MISMATCH');
    for (const check of ['count', 'bodies', 'intervals', 'answers', 'winners', 'events']) {
      expect(visited.output).toMatch(new RegExp(`${check} +ok: [1-9]`));
    }
    expect(visited.status).toBe(0);
  });

  test('[O-21] prints a link that makes its user an owner of the account', () => {
    expect(visited.link).toMatchObject({ role: 'owner', account: { name: 'Demo' } });
  });

  test('[O-18] prints the number of viewers from outside', () => {
    expect(visited.output).toMatch(/ viewers, 2 from outside · interval /);
    expect(visited.output).toMatch(/ at most, of 20, and 2 from outside$/m);
    expect(outcome.output).not.toContain('from outside');
    expect(sabotaged.output).not.toContain('from outside');
  });
});

describe.concurrent('a demo that is stopped', () => {
  test(
    '[O-17] by Ctrl-C leaves no process and no file behind',
    async () => {
      const temporary = mkdtempSync(join(directory, 'stopped-'));
      const child = startDemoIn({ TMPDIR: temporary }, '--viewers', '20');
      expect(await readUntil(child, 'video: live')).toStartWith(
        'The Fourbeat demo: http://localhost:',
      );
      // A server with its encoder, a publisher with another one, and the crowd.
      const started = descendantsOf(child.pid);
      expect(started.filter(({ program }) => program === 'ffmpeg').length).toBe(2);
      expect(started.length).toBe(5);
      child.kill('SIGINT');
      expect(await child.exited).toBe(0);
      expect(started.filter(({ pid }) => isRunning(pid))).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
    },
    RUN_MS,
  );

  test.skipIf(!IS_FULL_RUN)(
    '[O-17] by SIGKILL leaves no process behind',
    async () => {
      const child = startDemo('--viewers', '20', '--data', join(directory, 'kept'));
      await readUntil(child, 'video: live');
      const started = descendantsOf(child.pid);
      expect(started.length).toBe(5);
      child.kill('SIGKILL');
      await until(() => !started.some(({ pid }) => isRunning(pid)));
    },
    RUN_MS,
  );

  test(
    '[O-17] by a port in use prints one error line',
    async () => {
      const blocker = Bun.serve({ port: 0, fetch: () => new Response() });
      const { port } = blocker;
      const child = startDemo('--port', String(port));
      const { status, output, errors } = await outcomeOf(child);
      await blocker.stop(true);
      expect(status).toBe(1);
      expect(output).toBe('');
      expect(errors).toMatch(new RegExp(`^fourbeat: [^\\n]*\\b${port}\\b[^\\n]*\\n$`));
    },
    RUN_MS,
  );
});

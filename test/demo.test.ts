import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../demo/children.ts';
import { runDemo } from '../demo/demo.ts';
import { plainScreen, type Screen } from '../demo/screen/screen.ts';
import { startSabotagedServer } from './support/harness/sabotaged-server.ts';
import { Outsider } from './support/harness/unauthorized-client.ts';

const MAIN = join(import.meta.dir, '..', 'server', 'main.ts');
const RUN_MS = 60_000;
const SECOND_COMES_MS = 6_000;
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
  const [output, complaints] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, output, complaints };
}

/** Processes that a process has started and that run, and those that they have started. */
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

/** Whether a process runs; one that has ended and that nobody waits for does not. */
function isRunning(pid: number): boolean {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)]);
  const state = stdout.toString().trim();
  return state !== '' && !state.startsWith('Z');
}

/** Runs a demo to which two others come: one among the crowd's arrivals, one in the middle. */
async function runVisited() {
  const lines: string[] = [];
  const others: Outsider[] = [];
  const attending: Promise<void>[] = [];
  const looks: Promise<unknown>[] = [];
  const plain = plainScreen((line) => void lines.push(line));
  const screen: Screen = {
    ...plain,
    update: (before, show, report) => {
      plain.update(before, show, report);
      if (looks.length === 0) looks.push(lookAtLink(lines.join('\n')));
      if (others.length >= (show.elapsedMs < SECOND_COMES_MS ? 1 : 2)) return;
      const other = new Outsider(show.origin, show.streamId, `other ${others.length}`);
      others.push(other);
      attending.push(other.attend().catch(() => {}));
    },
    close: () => {
      for (const other of others) other.leave();
      plain.close();
    },
  };
  const status = await runDemo(
    { viewers: 20, port: 0, quizEvery: 4, duration: 17, plain: true },
    { startServer, screen: () => screen },
  );
  await Promise.all(attending);
  const [link] = await Promise.all(looks);
  return { status, output: lines.join('\n'), link, others: others.map(({ statuses }) => statuses) };
}

/** What the service says of the link that a demo has printed. */
async function lookAtLink(output: string): Promise<unknown> {
  const [, origin, token] = /(http:\S+)\/studio\/#invitation=(\S+)/.exec(output) ?? [];
  const response = await fetch(`${origin}/studio/v1/invitations/look`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return response.json();
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(50);
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
  // On to the end: a demo whose reader is gone ends by itself.
  void readOn();
  return found.promise;
}

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

describe('a demo that runs by itself', () => {
  let outcome: Awaited<ReturnType<typeof outcomeOf>>;
  let sabotaged: { status: number; output: string };
  let visited: Awaited<ReturnType<typeof runVisited>>;

  // All shows at the same time: it is the time of a show that takes long.
  beforeAll(async () => {
    const args = ['--viewers', '30', '--quiz-every', '5', '--duration', '20', '--plain'];
    const lines: string[] = [];
    const [fair, unfair, open] = await Promise.all([
      outcomeOf(startDemo(...args)),
      runDemo(
        { viewers: 30, port: 0, quizEvery: 3, duration: 17, plain: true },
        {
          startServer: startSabotagedServer,
          screen: () => plainScreen((line) => void lines.push(line)),
        },
      ),
      runVisited(),
    ]);
    outcome = fair;
    visited = open;
    sabotaged = { status: unfair, output: lines.join('\n') };
  }, RUN_MS);

  test('[O-17] shows quizzes, their results and a winners round to its viewers', () => {
    const { output } = outcome;
    for (const number of [1, 2, 3]) {
      expect(output).toContain(`quiz ${number}: `);
      expect(output).toContain(`results of quiz ${number}: `);
    }
    expect(output).toMatch(/winners of round 1: \d+/);
    expect(output).toMatch(/\b30 at most, of 30/);
  });

  test('[O-18] finds nothing wrong with the service, and ends with 0', () => {
    expect(outcome.complaints).toBe('');
    for (const check of ['count', 'bodies', 'intervals', 'answers', 'winners', 'events']) {
      expect(outcome.output).toMatch(new RegExp(`${check} +ok: [1-9]`));
    }
    expect(outcome.status).toBe(0);
  });

  test('[O-19] prints plain lines where there is no terminal', () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(outcome.output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(outcome.output.match(/ viewers · interval \d+ · /g)?.length).toBeGreaterThan(15);
  });

  test('[M-45] shows video in three renditions, and says where', () => {
    expect(outcome.output).toMatch(/^Watch it: http:\/\/localhost:\d+\/watch\/[0-9a-f-]{36}$/m);
    const sizes = '426x240, 214x120, 142x80';
    expect(outcome.output).toMatch(new RegExp(`video: live · newest segment .* ago · ${sizes}`));
    expect(outcome.output).not.toContain('video: none');
  });

  test('[O-18] finds everything that is wrong with another service, and ends with 1', () => {
    for (const check of ['count', 'bodies', 'intervals', 'answers', 'winners', 'events']) {
      expect(sabotaged.output).toContain(`MISMATCH in ${check}: `);
    }
    expect(sabotaged.output).toContain('checks FAILED');
    expect(sabotaged.status).toBe(1);
  });

  test('[O-18] takes nobody from outside for a mismatch, who is counted, answers, wins and talks', () => {
    const [first, second] = visited.others;
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

  test('[O-21] prints a link by which whoever runs it owns the account in the studio', () => {
    expect(visited.link).toMatchObject({ role: 'owner', account: { name: 'Demo' } });
  });

  test('[O-18] says how many are here from outside', () => {
    expect(visited.output).toMatch(/ viewers, 2 from outside · interval /);
    expect(visited.output).toMatch(/ at most, of 20, and 2 from outside$/m);
    expect(outcome.output).not.toContain('from outside');
    expect(sabotaged.output).not.toContain('from outside');
  });
});

describe('a demo without video', () => {
  const args = ['--viewers', '5', '--duration', '2', '--plain'];

  test(
    '[M-44] for want of ffmpeg says in one line how to install it, and shows all else',
    async () => {
      const { status, output, complaints } = await outcomeOf(
        startDemoIn({ PATH: directory }, ...args),
      );
      const [, second] = output.split('\n');
      expect(second).toMatch(/^This show is without video\. ffmpeg is not there.* Install it: .+/);
      expect(output).not.toContain('/watch/');
      expect(output).toContain('viewers · interval');
      expect([status, complaints]).toEqual([0, '']);
    },
    RUN_MS,
  );

  test(
    '[O-17] because nobody wants it starts no encoder',
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

describe('a demo that is ended', () => {
  test(
    '[O-17] by Ctrl-C says how it went and leaves nothing behind',
    async () => {
      const child = startDemo('--viewers', '20');
      expect(await readUntil(child, 'video: live')).toStartWith(
        'The Fourbeat demo: http://localhost:',
      );
      // A server with its encoder, one who sends with another, and the viewers.
      const started = descendantsOf(child.pid);
      expect(started.filter(({ program }) => program === 'ffmpeg').length).toBe(2);
      expect(started.length).toBe(5);
      child.kill('SIGINT');
      expect(await child.exited).toBe(0);
      expect(started.filter(({ pid }) => isRunning(pid))).toEqual([]);
      expect(readdirSync(directory)).toEqual([]);
    },
    RUN_MS,
  );

  test(
    '[O-17] without a word leaves no process behind',
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
    '[O-17] before it began, by a port that is in use, says so in one line',
    async () => {
      const other = Bun.serve({ port: 0, fetch: () => new Response() });
      const { port } = other;
      const child = startDemo('--port', String(port));
      const { status, output, complaints } = await outcomeOf(child);
      await other.stop(true);
      expect(status).toBe(1);
      expect(output).toBe('');
      expect(complaints).toMatch(new RegExp(`^fourbeat: [^\\n]*\\b${port}\\b[^\\n]*\\n$`));
    },
    RUN_MS,
  );
});

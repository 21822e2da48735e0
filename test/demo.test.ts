import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDemo } from '../server/demo/demo.ts';
import { plainScreen } from '../server/demo/screen/screen.ts';
import { startSabotagedServer } from './sabotaged-server.ts';

const MAIN = join(import.meta.dir, '..', 'server', 'main.ts');
const RUN_MS = 60_000;
const directory = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
const started: Bun.Subprocess[] = [];

function startDemo(...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, 'demo', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: directory },
  });
  started.push(child);
  return child;
}

async function outcomeOf(child: ReturnType<typeof startDemo>) {
  const [output, complaints] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, output, complaints };
}

/** Processes that a process has started and that run. */
function childrenOf(pid: number): number[] {
  const { stdout } = Bun.spawnSync(['ps', '-A', '-o', 'pid=,ppid=,stat=']);
  return stdout
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'))
    .map(([child]) => Number(child));
}

/** Whether a process runs; one that has ended and that nobody waits for does not. */
function isRunning(pid: number): boolean {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)]);
  const state = stdout.toString().trim();
  return state !== '' && !state.startsWith('Z');
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(50);
}

/** Reads the output of a demo until a line has this text. */
async function readUntil(child: ReturnType<typeof startDemo>, text: string): Promise<string> {
  let output = '';
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    if (output.includes(text)) break;
  }
  return output;
}

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

describe('a demo that runs by itself', () => {
  let outcome: Awaited<ReturnType<typeof outcomeOf>>;
  let sabotaged: { status: number; output: string };

  // Both shows at the same time: it is the time of a show that takes long.
  beforeAll(async () => {
    const args = ['--viewers', '30', '--quiz-every', '5', '--duration', '20', '--plain'];
    const lines: string[] = [];
    const [fair, unfair] = await Promise.all([
      outcomeOf(startDemo(...args)),
      runDemo(
        { viewers: 30, port: 0, quizEvery: 3, duration: 17, plain: true },
        {
          startServer: startSabotagedServer,
          screen: () => plainScreen((line) => void lines.push(line)),
        },
      ),
    ]);
    outcome = fair;
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

  test('[O-18] finds everything that is wrong with another service, and ends with 1', () => {
    for (const check of ['count', 'bodies', 'intervals', 'answers', 'winners', 'events']) {
      expect(sabotaged.output).toContain(`MISMATCH in ${check}: `);
    }
    expect(sabotaged.output).toContain('checks FAILED');
    expect(sabotaged.status).toBe(1);
  });
});

describe('a demo that is ended', () => {
  test(
    '[O-17] by Ctrl-C says how it went and leaves nothing behind',
    async () => {
      const child = startDemo('--viewers', '20');
      expect(await readUntil(child, 'viewers ·')).toStartWith(
        'The Fourbeat demo: http://localhost:',
      );
      const children = childrenOf(child.pid);
      expect(children.length).toBe(2);
      child.kill('SIGINT');
      expect(await child.exited).toBe(0);
      expect(children.filter(isRunning)).toEqual([]);
      expect(readdirSync(directory)).toEqual([]);
    },
    RUN_MS,
  );

  test(
    '[O-17] without a word leaves no process behind',
    async () => {
      const child = startDemo('--viewers', '20', '--data', join(directory, 'kept'));
      await readUntil(child, 'viewers ·');
      const children = childrenOf(child.pid);
      expect(children.length).toBe(2);
      child.kill('SIGKILL');
      await until(() => !children.some(isRunning));
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

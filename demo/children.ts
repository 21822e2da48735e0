import { join } from 'node:path';
import type { Subprocess } from 'bun';
import type { CrowdCommand, CrowdReport } from '../crowd/messages.ts';

export interface ChildProcess {
  /** The exit status; 128 and more after a signal. */
  readonly exited: Promise<number>;
  /** Sends SIGTERM, then SIGKILL after `STOP_MS`. */
  stop(): Promise<void>;
}

export interface DemoServer extends ChildProcess {
  readonly port: number;
  /** The last line of its standard error, or an empty text. */
  lastError(): string;
}

/** The process of the simulated viewers. */
export interface DemoCrowd extends ChildProcess {
  send(message: CrowdCommand): void;
}

export interface DemoVideo extends ChildProcess {
  /** Resolves when it has ended, with the last line of its standard error. */
  readonly ended: Promise<string>;
}

const MAIN = join(import.meta.dir, '../server/main.ts');
const CROWD = join(import.meta.dir, 'crowd-process.ts');
// O-11: a server drains within 10 s.
const STOP_MS = 11_000;
const LISTENING = /^Fourbeat is listening on \S+:(\d+)/m;

// All viewers share one address, so limits by address or account are lifted.
const RATE_ARGS = ['tokens', 'failed-auth', 'studio'].flatMap((rate) => [
  `--rate-${rate}`,
  '1000000/60',
]);

// Each child has its own process group, so that Ctrl-C reaches the demo alone, which then ends its
// children in order. `--no-orphans` ends a child with the demo, even when the demo is killed.
const COMMAND = [process.execPath, '--no-orphans', '--no-env-file'];
const PIPED = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', detached: true } as const;

// Small and fast to encode, so that encoding does not distort the viewers' measurements.
const VIDEO_SIZE = '426x240';
const VIDEO_FPS = '20';
const VIDEO_ARGS = ['--media', '', '--media-encoder', 'libx264', '--media-preset', 'ultrafast'];
const NO_INGEST_PORTS = ['--rtmp-port', 'off', '--srt-port', 'off'];

/** The account that owns the show. */
export interface DemoAccount {
  readonly email: string;
  readonly token: string;
}

export async function createAccount(data: string): Promise<DemoAccount> {
  // A new account for each run, also in a data directory of earlier runs.
  const email = `demo-${Date.now()}@fourbeat.example`;
  const args = ['account', 'create', '--email', email, '--name', 'Demo', '--data', data];
  return { email, token: (await runCommand<{ token: string }>(args)).token };
}

/** Creates a link that signs its user in to the studio as the owner of the account. */
export async function studioLink(email: string, data: string, port: number): Promise<string> {
  const serverOptions = ['--data', data, '--public-url', '', '--port', String(port)];
  const args = ['member', 'link', '--email', email, ...serverOptions];
  return (await runCommand<{ link: string }>(args)).link;
}

/** Runs a command and returns the JSON it prints. @throws Error with its last error line */
async function runCommand<T>(args: readonly string[]): Promise<T> {
  const child = Bun.spawn([...COMMAND, MAIN, ...args], PIPED);
  const [text, errorLine] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(withoutPrefix(lastLine(errorLine)));
  return JSON.parse(text) as T;
}

/** Starts a server. @throws Error with its last error line when it does not listen */
export async function startServer(port: number, data: string): Promise<DemoServer> {
  const args = ['serve', '--host', '*', '--port', String(port), '--data', data, '--roles', 'all'];
  const demoArgs = ['--database', '', '--redis', '', '--token-auth', 'open', '--public-url', ''];
  demoArgs.push(...VIDEO_ARGS, ...NO_INGEST_PORTS, '--log-level', 'warn', ...RATE_ARGS);
  const child = Bun.spawn([...COMMAND, MAIN, ...args, ...demoArgs], PIPED);
  let errorLine = '';
  const listening = Promise.withResolvers<number>();
  void eachLine(child.stdout, (line) => {
    const portText = LISTENING.exec(line)?.[1];
    if (portText) listening.resolve(Number(portText));
  });
  const stderrRead = eachLine(child.stderr, (line) => {
    errorLine = line;
  });
  void child.exited.then(async () => {
    await stderrRead;
    listening.reject(
      new Error(withoutPrefix(errorLine) || 'The server exited before it was ready.'),
    );
  });
  const boundPort = await listening.promise;
  return { ...childOf(child), port: boundPort, lastError: () => withoutPrefix(errorLine) };
}

/**
 * Starts the process that publishes test video to a stream.
 * @param data data directory of the server
 */
export function startVideo(origin: string, data: string, streamId: string): DemoVideo {
  const streamOptions = ['--stream', streamId, '--url', origin, '--data', data];
  const videoOptions = ['--size', VIDEO_SIZE, '--fps', VIDEO_FPS, '--plain'];
  const child = Bun.spawn([...COMMAND, MAIN, 'media', 'play', ...streamOptions, ...videoOptions], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const stderrRead = child.stderr.text();
  const ended = child.exited.then(async () => withoutPrefix(lastLine(await stderrRead)));
  return { ...childOf(child), ended };
}

/** Starts the process of the simulated viewers. */
export function startCrowd(onReport: (report: CrowdReport) => void): DemoCrowd {
  const child = Bun.spawn([...COMMAND, CROWD], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
    ipc: (message) => onReport(message as CrowdReport),
  });
  return {
    ...childOf(child),
    send: (message) => child.send(message),
    // It exits when the IPC channel closes.
    stop: async () => {
      child.disconnect();
      await child.exited;
    },
  };
}

function childOf(child: Subprocess): ChildProcess {
  return {
    exited: child.exited,
    stop: async () => {
      child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await child.exited;
      clearTimeout(killTimer);
    },
  };
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void) {
  const decoder = new TextDecoder();
  let partialLine = '';
  for await (const chunk of stream) {
    const lines = (partialLine + decoder.decode(chunk, { stream: true })).split('\n');
    partialLine = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  }
}

// The command line adds the prefix to each error it prints, so remove that of the child.
function withoutPrefix(errorLine: string): string {
  return errorLine.replace(/^fourbeat: /, '');
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

import { join } from 'node:path';
import type { Subprocess } from 'bun';
import type { CrowdCommand, CrowdReport } from '../crowd/messages.ts';

/** A process of the demo's. */
export interface ChildProcess {
  /** The exit status; 128 and more after a signal. */
  readonly exited: Promise<number>;
  /** Asks it to end, and kills it when it does not. */
  stop(): Promise<void>;
}

/** A server that serves. */
export interface DemoServer extends ChildProcess {
  readonly port: number;
  /** The last line it complained with, or an empty text. */
  lastError(): string;
}

/** The process of the viewers. */
export interface DemoCrowd extends ChildProcess {
  send(message: CrowdCommand): void;
}

/** The process that sends video. */
export interface DemoVideo extends ChildProcess {
  /** Fulfilled when it has ended, with its last complaint; may be empty. */
  readonly ended: Promise<string>;
}

const MAIN = join(import.meta.dir, '../server/main.ts');
const CROWD = join(import.meta.dir, 'crowd-process.ts');
// O-11: a server drains within 10 s.
const STOP_MS = 11_000;
const LISTENING = /^Fourbeat is listening on \S+:(\d+)/m;

// Every viewer comes from one address, so what is limited by address or account is out of the way.
const RATE_ARGS = ['tokens', 'failed-auth', 'studio'].flatMap((rate) => [
  `--rate-${rate}`,
  '1000000/60',
]);

// Ctrl-C is for the demo alone, which ends its children in order: each has a group of its own.
// `--no-orphans` ends it with the demo, even when that is killed without a word.
const COMMAND = [process.execPath, '--no-orphans', '--no-env-file'];

// Small, and encoded with the least work: what the viewers measure must not come from the video.
const VIDEO_SIZE = '426x240';
const VIDEO_FPS = '20';
const VIDEO_ARGS = ['--media', '', '--media-encoder', 'libx264', '--media-preset', 'ultrafast'];
const NO_INGEST_PORTS = ['--rtmp-port', 'off', '--srt-port', 'off'];

/** The account whose show it is. */
export interface DemoAccount {
  readonly email: string;
  /** Its service token. */
  readonly token: string;
}

/** Makes an account in a data directory. */
export async function createAccount(data: string): Promise<DemoAccount> {
  // Each demo on a directory that is kept has an account of its own.
  const email = `demo-${Date.now()}@fourbeat.example`;
  const args = ['account', 'create', '--email', email, '--name', 'Demo', '--data', data];
  return { email, token: (await runCommand<{ token: string }>(args)).token };
}

/** A link by which somebody becomes the owner of the account, in the studio of the server. */
export async function studioLink(email: string, data: string, port: number): Promise<string> {
  const where = ['--data', data, '--public-url', '', '--port', String(port)];
  return (await runCommand<{ link: string }>(['member', 'link', '--email', email, ...where])).link;
}

/** What a command prints. @throws Error with its last line when it fails */
async function runCommand<T>(args: readonly string[]): Promise<T> {
  const child = Bun.spawn([...COMMAND, MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(withoutPrefix(lastLine(complaint)));
  return JSON.parse(text) as T;
}

/** Starts a server. @throws Error with its last line when it does not serve */
export async function startServer(port: number, data: string): Promise<DemoServer> {
  const args = ['serve', '--host', '*', '--port', String(port), '--data', data, '--roles', 'all'];
  const own = ['--database', '', '--redis', '', '--token-auth', 'open', '--public-url', ''];
  own.push(...VIDEO_ARGS, ...NO_INGEST_PORTS, '--log-level', 'warn', ...RATE_ARGS);
  const child = Bun.spawn([...COMMAND, MAIN, ...args, ...own], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let complaint = '';
  const listening = Promise.withResolvers<number>();
  void eachLine(child.stdout, (line) => {
    const found = LISTENING.exec(line)?.[1];
    if (found) listening.resolve(Number(found));
  });
  const complained = eachLine(child.stderr, (line) => {
    complaint = line;
  });
  void child.exited.then(async () => {
    await complained;
    listening.reject(
      new Error(withoutPrefix(complaint) || 'the server ended before it could serve'),
    );
  });
  const taken = await listening.promise;
  return { ...childOf(child), port: taken, lastError: () => withoutPrefix(complaint) };
}

/**
 * Starts the process that sends the test picture to a stream.
 * @param data where the database of the server is
 */
export function startVideo(origin: string, data: string, streamId: string): DemoVideo {
  const where = ['--stream', streamId, '--url', origin, '--data', data];
  const what = ['--size', VIDEO_SIZE, '--fps', VIDEO_FPS, '--plain'];
  const child = Bun.spawn([...COMMAND, MAIN, 'media', 'play', ...where, ...what], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const complained = child.stderr.text();
  const ended = child.exited.then(async () => withoutPrefix(lastLine(await complained)));
  return { ...childOf(child), ended };
}

/** Starts the process of the viewers. */
export function startCrowd(onReport: (report: CrowdReport) => void): DemoCrowd {
  const child = Bun.spawn([...COMMAND, CROWD], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
    ipc: (message) => onReport(message as CrowdReport),
  });
  return {
    ...childOf(child),
    send: (message) => child.send(message),
    // It ends when nobody listens any more.
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
      const tooLong = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await child.exited;
      clearTimeout(tooLong);
    },
  };
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  }
}

// Who starts the demo is told by the demo that it is Fourbeat that complains.
function withoutPrefix(complaint: string): string {
  return complaint.replace(/^fourbeat: /, '');
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

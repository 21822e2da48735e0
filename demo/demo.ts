import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFfmpeg } from '../server/media/packager/find-ffmpeg.ts';
import { listenForStop } from '../server/platform/stop-signal.ts';
import { createAccount, type DemoServer, startServer, studioLink } from './children.ts';
import { plainScreen, type Screen, terminalScreen } from './screen/screen.ts';
import { runShow } from './show-run.ts';

/** Options of the demo (O-17). */
export interface DemoOptions {
  readonly viewers: number;
  /** Port of the server; 0 for any free one. */
  readonly port: number;
  readonly quizEvery: number;
  /** Seconds after which the demo ends; without a duration, it runs until it is stopped. */
  readonly duration?: number | undefined;
  /** Data directory; a temporary one by default. */
  readonly data?: string | undefined;
  /** Whether to publish video; it needs ffmpeg. */
  readonly video?: boolean | undefined;
  /** Whether to print plain lines even on a terminal. */
  readonly plain?: boolean | undefined;
}

/** Replaceable parts of the demo, for tests. */
export interface DemoParts {
  readonly startServer: (port: number, data: string) => Promise<DemoServer>;
  readonly screen: (plain: boolean) => Screen;
}

const PARTS: DemoParts = {
  startServer,
  screen: (plain) => {
    const { stdout } = process;
    return stdout.isTTY && !plain
      ? terminalScreen(stdout)
      : plainScreen((line) => stdout.write(`${line}\n`));
  },
};

/**
 * Runs the demo until it is stopped (SPEC O-17 to O-19).
 * @returns the exit status: 0, or 1 when a check failed
 * @throws Error with a message for the user
 */
export async function runDemo(options: DemoOptions, parts: DemoParts = PARTS): Promise<number> {
  const screen = parts.screen(options.plain ?? false);
  const ending = listenForStop();
  const isUserDirectory = options.data !== undefined;
  const data = options.data ?? (await mkdtemp(join(tmpdir(), 'fourbeat-demo-')));
  const remove = () => {
    if (!isUserDirectory) rmSync(data, { recursive: true, force: true });
  };
  process.on('exit', remove);
  try {
    const { email, token } = await createAccount(data);
    const server = await parts.startServer(options.port, data);
    screen.print(
      `The Fourbeat demo: http://localhost:${server.port}, a host, and ${options.viewers} viewers.`,
    );
    try {
      const hasVideo = (options.video ?? false) && (await canShowVideo(screen));
      screen.print(
        `Host it yourself with this one-time link: ${await studioLink(email, data, server.port)}`,
      );
      if (ending.isRequested()) return 0;
      return await runShow({ ...options, screen, ending, server, token, data, hasVideo });
    } finally {
      await server.stop();
    }
  } finally {
    ending.dispose();
    remove();
    process.off('exit', remove);
  }
}

/** Looks for ffmpeg. Without it the demo runs without video and says so (M-44). */
async function canShowVideo(screen: Screen): Promise<boolean> {
  const problem = await checkFfmpeg({ ffmpeg: 'ffmpeg', encoder: 'libx264', preset: 'ultrafast' });
  if (problem === null) return true;
  screen.print(`This show is without video. ${problem}`);
  return false;
}

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFfmpeg } from '../server/media/packager/find-ffmpeg.ts';
import { listenForStop } from '../server/platform/stop-signal.ts';
import { createAccount, type DemoServer, startServer, studioLink } from './children.ts';
import { plainScreen, type Screen, terminalScreen } from './screen/screen.ts';
import { runShow } from './show-run.ts';

/** How the demo is run (O-17). */
export interface DemoOptions {
  readonly viewers: number;
  /** Port of the server; 0: any that is free. */
  readonly port: number;
  /** Seconds from quiz to quiz. */
  readonly quizEvery: number;
  /** Seconds after which it ends by itself. */
  readonly duration?: number | undefined;
  /** Where the database is kept; without it, nowhere. */
  readonly data?: string | undefined;
  /** Whether it shows video, where there is ffmpeg. */
  readonly video?: boolean | undefined;
  /** Lines, even on a terminal. */
  readonly plain?: boolean | undefined;
}

/** What the demo is made of; a test puts in what it wants to see go wrong. */
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
 * Runs the demo until somebody ends it (SPEC O-17 to O-19).
 * @returns the exit status: 0, or 1 when a check failed
 * @throws Error with a line for the person who started it, when something broke
 */
export async function runDemo(options: DemoOptions, parts: DemoParts = PARTS): Promise<number> {
  const screen = parts.screen(options.plain ?? false);
  const ending = listenForStop();
  const isKept = options.data !== undefined;
  const data = options.data ?? (await mkdtemp(join(tmpdir(), 'fourbeat-demo-')));
  const remove = () => {
    if (!isKept) rmSync(data, { recursive: true, force: true });
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
        `Host it yourself, by a link that works once: ${await studioLink(email, data, server.port)}`,
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

/** Looks for ffmpeg. Without it there is a show all the same, and a line that says so (M-44). */
async function canShowVideo(screen: Screen): Promise<boolean> {
  const found = await findFfmpeg({ ffmpeg: 'ffmpeg', encoder: 'libx264', preset: 'ultrafast' });
  if (!('missing' in found)) return true;
  screen.print(`This show is without video. ${found.missing}`);
  return false;
}

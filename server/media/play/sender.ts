import { ffprobeBeside } from '../packager/find-ffmpeg.ts';
import { feedPicture } from './picture-feed.ts';
import { factsOf, fileArguments, pictureArguments, probeArguments } from './play-arguments.ts';
import { outputOf, type RunningProgram, startProgram } from './program.ts';
import type { RemoteClock } from './service-clock.ts';
import { TestPicture } from './test-picture.ts';

/** What is played: a file, or the test picture. */
export type Material =
  | { readonly kind: 'file'; readonly path: string; readonly loop: boolean }
  | {
      readonly kind: 'picture';
      readonly width: number;
      readonly height: number;
      readonly frameRate: number;
    };

/** An encoder that sends in real time. */
export interface Sender {
  readonly program: RunningProgram;
  /** Frames drawn, and those left out because the encoder was busy; null: they are not ours. */
  frames(): { readonly drawn: number; readonly skipped: number } | null;
  stop(): Promise<void>;
}

const CLOCK_MS = 15_000;

/**
 * Gets ready to play a file.
 * @returns what starts it
 * @throws Error with a line for the person who started it
 */
export async function prepareFile(
  ffmpeg: string,
  { path, loop }: Extract<Material, { kind: 'file' }>,
): Promise<() => Sender> {
  if (!(await Bun.file(path).exists())) throw new Error(`there is no file ${path}`);
  const said = await outputOf(ffprobeBeside(ffmpeg), probeArguments(path));
  const facts = factsOf(said);
  if (facts.video === null) throw new Error(`${path} has no video`);
  return () => {
    const program = startProgram(ffmpeg, fileArguments(path, loop, facts));
    return { program, frames: () => null, stop: () => program.stop() };
  };
}

/** Starts the test picture. @param clock what it shows */
export function startPicture(
  ffmpeg: string,
  material: Extract<Material, { kind: 'picture' }>,
  title: string,
  clock: RemoteClock,
): Sender {
  const { width, height, frameRate } = material;
  const program = startProgram(ffmpeg, pictureArguments({ frameRate }));
  let isOver = false;
  let drawn = 0;
  let skipped = 0;
  const refresh = setInterval(() => void clock.refresh(), CLOCK_MS);
  const fed = feedPicture({
    picture: new TestPicture({ width, height, title }),
    width,
    height,
    frameRate,
    nowMs: () => clock.nowMs(),
    sleep: (ms) => Bun.sleep(ms),
    write: (pieces) => program.write(pieces),
    isOver: () => isOver,
    onFrame: (left) => {
      drawn++;
      skipped += left;
    },
  }).finally(() => clearInterval(refresh));
  return {
    program,
    frames: () => ({ drawn, skipped }),
    stop: async () => {
      isOver = true;
      await program.stop();
      await fed;
    },
  };
}

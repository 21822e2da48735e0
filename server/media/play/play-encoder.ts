import { runtime } from '../../platform/runtime.ts';
import { ffprobeBeside } from '../packager/find-ffmpeg.ts';
import { feedFrames } from './frame-feed.ts';
import { type MediaProcess, runForOutput, startProcess } from './media-process.ts';
import {
  fileArguments,
  isDisguisedPlaylist,
  parseProbeOutput,
  probeArguments,
  testPictureArguments,
} from './play-arguments.ts';
import type { ServiceClock } from './service-clock.ts';
import { TestPicture } from './test-picture.ts';

/** What to play: a file or the test picture. */
export type PlayInput =
  | { readonly kind: 'file'; readonly path: string; readonly loop: boolean }
  | {
      readonly kind: 'picture';
      readonly width: number;
      readonly height: number;
      readonly frameRate: number;
    };

/** An encoder that produces output in real time. */
export interface PlayEncoder {
  readonly process: MediaProcess;
  /** Frames drawn, and frames dropped because the encoder was busy; null for a file. */
  frames(): { readonly drawn: number; readonly dropped: number } | null;
  stop(): Promise<void>;
}

const CLOCK_REFRESH_MS = 15_000;

/**
 * Probes a file before it is played.
 * @returns a function that starts the encoder
 * @throws Error with a one-line message for the user
 */
export async function prepareFileEncoder(
  ffmpeg: string,
  { path, loop }: Extract<PlayInput, { kind: 'file' }>,
): Promise<() => PlayEncoder> {
  if (!(await Bun.file(path).exists())) throw new Error(`file not found: ${path}`);
  const info = parseProbeOutput(await runForOutput(ffprobeBeside(ffmpeg), probeArguments(path)));
  // Somebody else may have made the file, to get another file of this machine on air.
  if (isDisguisedPlaylist(path, info))
    throw new Error(`${path} is no video but a playlist of other files`);
  if (info.video === null) throw new Error(`${path} has no video`);
  return () => {
    const process = startProcess(ffmpeg, fileArguments(path, loop, info));
    return { process, frames: () => null, stop: () => process.stop() };
  };
}

/** Starts the test picture. @param clock service time, which the picture shows */
export function startTestPicture(
  ffmpeg: string,
  input: Extract<PlayInput, { kind: 'picture' }>,
  title: string,
  clock: ServiceClock,
): PlayEncoder {
  const { width, height, frameRate } = input;
  const process = startProcess(ffmpeg, testPictureArguments(frameRate));
  let isStopped = false;
  let drawnFrames = 0;
  let droppedFrames = 0;
  const refresh = runtime.setInterval(() => void clock.refresh(), CLOCK_REFRESH_MS);
  const feeding = feedFrames({
    picture: new TestPicture({ width, height, title }),
    width,
    height,
    frameRate,
    nowMs: () => clock.nowMs(),
    sleep: (ms) => runtime.sleep(ms),
    write: (pieces) => process.write(pieces),
    isStopped: () => isStopped,
    onFrame: (dropped) => {
      drawnFrames++;
      droppedFrames += dropped;
    },
  }).finally(() => runtime.clearTimer(refresh));
  return {
    process,
    frames: () => ({ drawn: drawnFrames, dropped: droppedFrames }),
    stop: async () => {
      isStopped = true;
      await process.stop();
      await feeding;
    },
  };
}

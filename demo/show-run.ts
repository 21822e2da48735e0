import { allPassed } from '../crowd/ledger/check-results.ts';
import type { StopSignal } from '../server/platform/stop-signal.ts';
import { type DemoCrowd, type DemoServer, startCrowd, startVideo } from './children.ts';
import { Host } from './host/host.ts';
import { StudioClient } from './host/studio-client.ts';
import { summaryLines } from './screen/plain-lines.ts';
import type { Screen } from './screen/screen.ts';
import {
  newShow,
  type ShowState,
  type VideoState,
  withMemory,
  withReport,
  withVideo,
} from './screen/show.ts';
import { followVideo } from './video/demo-video.ts';

export interface ShowRun {
  readonly viewers: number;
  readonly quizEvery: number;
  /** Seconds after which the show ends; without a duration, it runs until it is stopped. */
  readonly duration?: number | undefined;
  readonly screen: Screen;
  readonly ending: StopSignal;
  readonly server: DemoServer;
  /** The producer's service token. */
  readonly token: string;
  /** Data directory of the server. */
  readonly data: string;
  readonly hasVideo: boolean;
}

// The host starts when most viewers have joined, or after this time.
const AUDIENCE_SHARE = 0.9;
const AUDIENCE_WAIT_MS = 30_000;
const AUDIENCE_POLL_MS = 100;
const MEMORY_MS = 2_000;
// Time limit of the crowd's last report; its last checks take 1.5 s.
const LAST_REPORT_MS = 10_000;
const VIDEO_STARTS_MAX = 5;
const VIDEO_PAUSE_MS = 5_000;

/**
 * Runs a show with its crowd until it ends, and prints a summary.
 * @returns 0, or 1 when a check failed
 * @throws Error when a process failed or the service refused the host
 */
export async function runShow(run: ShowRun): Promise<number> {
  const { screen, ending, server, viewers, duration, hasVideo } = run;
  const origin = `http://localhost:${server.port}`;
  const studio = new StudioClient({ origin, token: run.token, sleep: Bun.sleep });
  const { id: streamId } = await studio.createStream('The demo');
  await studio.startStream(streamId);
  const startMs = performance.now();
  let show: ShowState = newShow({
    origin,
    streamId,
    viewers,
    video: hasVideo ? { state: 'starting' } : null,
  });
  const lastReport = Promise.withResolvers<void>();
  const crowd = startCrowd((report) => {
    const before = show;
    show = withReport(before, report, performance.now() - startMs);
    screen.update(before, show, report);
    if (report.isLast) lastReport.resolve();
  });
  const stopVideo = hasVideo
    ? showVideo(run, origin, streamId, (video) => {
        const before = show;
        show = withVideo(before, video);
        screen.updateVideo(before, show);
      })
    : null;
  const memoryTimer = setInterval(async () => {
    const bytes = await residentBytes(origin);
    if (bytes !== null) show = withMemory(show, bytes);
  }, MEMORY_MS);
  const childFailure = Promise.race([
    server.exited.then(() => `The server exited: ${server.lastError() || 'it gave no reason'}`),
    crowd.exited.then(() => 'The process of the simulated viewers exited.'),
  ]);
  try {
    crowd.send({ kind: 'start', port: server.port, streamId, viewers });
    const over = Promise.withResolvers<void>();
    const hosted = host(run, studio, crowd, () => show, over.promise);
    const timed = duration === undefined ? [] : [Bun.sleep(duration * 1_000)];
    const failure = await Promise.race([childFailure, hosted, ending.requested, ...timed]);
    over.resolve();
    if (failure) throw new Error(failure);
    show = { ...show, isEnding: true };
    crowd.send({ kind: 'finish' });
    const timeout = Bun.sleep(LAST_REPORT_MS).then(
      () => 'The simulated viewers sent no last report.',
    );
    const failedReport = await Promise.race([lastReport.promise, timeout, childFailure]);
    if (failedReport) throw new Error(failedReport);
    await studio.endStream(streamId);
    return allPassed(show.checkResults) ? 0 : 1;
  } finally {
    clearInterval(memoryTimer);
    await Promise.all([crowd.stop(), stopVideo?.()]);
    screen.close();
    for (const line of summaryLines(show)) screen.print(line);
  }
}

/**
 * Publishes video and follows its state. Starts the source again up to four times: a busy machine may not
 * recognize it in time.
 * @returns a function that stops both
 */
function showVideo(
  { screen, data }: ShowRun,
  origin: string,
  streamId: string,
  onChange: (video: VideoState) => void,
): () => Promise<void> {
  const page = `${origin}/watch/${streamId}`;
  screen.print(`Watch it: ${page}`);
  screen.print(`With facts from the feed below the video: ${page}?facts`);
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const publish = async () => {
    for (let starts = 1; starts <= VIDEO_STARTS_MAX && !isOver; starts += 1) {
      const video = startVideo(origin, data, streamId);
      const stop = followVideo({ origin, streamId, video, nowMs: Date.now, onChange });
      await Promise.race([video.ended, over.promise]);
      stop();
      await video.stop();
      await Promise.race([Bun.sleep(VIDEO_PAUSE_MS), over.promise]);
    }
  };
  const published = publish();
  return () => {
    isOver = true;
    over.resolve();
    return published;
  };
}

/** Hosts the show once the viewers have joined. @returns the error message, if any */
async function host(
  run: ShowRun,
  studio: StudioClient,
  crowd: DemoCrowd,
  show: () => ShowState,
  over: Promise<void>,
): Promise<string | undefined> {
  let isOver = false;
  const sleep = (ms: number) => Promise.race([Bun.sleep(ms), over]);
  void over.then(() => {
    isOver = true;
  });
  while (!isOver && !hasAudience(show())) await sleep(AUDIENCE_POLL_MS);
  const producer = new Host({
    studio,
    streamId: show().streamId,
    quizEveryMs: run.quizEvery * 1_000,
    nowMs: () => performance.now(),
    sleep,
    isOver: () => isOver,
    onExpected: (key, inMs) => crowd.send({ kind: 'expect-event', key, inMs }),
  });
  try {
    await producer.run();
    return undefined;
  } catch (error) {
    return `The service rejected the host: ${error instanceof Error ? error.message : error}`;
  }
}

function hasAudience({ arrived, viewers, elapsedMs }: ShowState): boolean {
  return arrived >= AUDIENCE_SHARE * viewers || elapsedMs > AUDIENCE_WAIT_MS;
}

async function residentBytes(origin: string): Promise<number | null> {
  try {
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    const bytes = /^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1];
    return bytes === undefined ? null : Number(bytes);
  } catch {
    return null;
  }
}

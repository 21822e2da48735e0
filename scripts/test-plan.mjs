// Which test files run together, and in which order. `scripts/test.mjs` runs them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './install.mjs';

/** These put whole services under load, or need both cores: they run one at a time. */
const ALONE = [
  'server/realtime/presence/presence-ring-threads.test.ts',
  'test/cluster/consistency-checks.full.test.ts',
  'test/database/postgres-contention.test.ts',
  'test/hostile.full.test.ts',
  'test/kill/kill.test.ts',
  'test/media/players.full.test.ts',
  'test/media/watch-page.test.ts',
  'test/player/overlay-latency.full.test.ts',
  'test/player/show.full.test.ts',
  'test/studio/large-show.full.test.ts',
  'test/studio/outages.full.test.ts',
];

/** Several nodes with limits of some 100 ms, which mostly wait: two use a core, or 1.6 slow ones. */
const NODES = [
  'server/realtime/coordination/many-nodes.test.ts',
  'server/realtime/feed/feed-log.test.ts',
  'server/realtime/feed/idle-streams.test.ts',
  'server/storage/redis/failover.test.ts',
  'server/storage/redis/open-redis.test.ts',
  'test/cluster/cluster.test.ts',
  'test/cluster/failover-faults.full.test.ts',
  'test/cluster/faults.test.ts',
  'test/cluster/network-faults.test.ts',
  'test/database/postgres-unavailable.test.ts',
  'test/presence/nodes.test.ts',
];

/** Whole services with limits of seconds, which use a third of a core each. */
const SERVICES = [
  'server/realtime/coordination/shared-clock.full.test.ts',
  'test/cluster/moderation.test.ts',
  'test/cluster/roles.test.ts',
  'test/gateway/workers.test.ts',
  'test/studio-api/rehearsal-crowd.full.test.ts',
];

/** Real encoders, which must keep up with the time of their source: two use 1.5 cores. */
const VIDEO = [
  'server/media/packager/encoder-ffmpeg.test.ts',
  'server/media/packager/encoder-kinds.test.ts',
  'server/media/packager/encoder-process.test.ts',
  'server/media/packager/late-tracks.full.test.ts',
  'server/media/packager/missing-video.test.ts',
  'server/media/packager/probe.test.ts',
  'server/media/srt/srt-listener.full.test.ts',
  'test/demo.test.ts',
  'test/media/full-disk-recording.test.ts',
  'test/media/gap-players.full.test.ts',
  'test/media/media-faults.full.test.ts',
  'test/media/play.test.ts',
  'test/media/preview.test.ts',
  'test/media/recording.test.ts',
  'test/media/senders.test.ts',
  'test/media/timeline-conformance.test.ts',
];

/** Browsers and simulated viewers use both cores, so a database beside them would seem unavailable. */
const BUSY = /^test\/(?:player|sdk|studio)\/|^test\/examples\.full\.test\.ts$/;

/**
 * The seconds of the slowest files, of 20 s or more. They start first, or the last one would run alone;
 * other files count as one second.
 */
export const SECONDS = {
  'server/media/packager/encoder-ffmpeg.test.ts': 26,
  'server/media/rtmp/rtmp-listener.test.ts': 38,
  'server/media/srt/srt-listener.full.test.ts': 53,
  'server/realtime/coordination/many-nodes.test.ts': 30,
  'server/realtime/coordination/shared-clock.full.test.ts': 87,
  'server/realtime/feed/feed-log.test.ts': 49,
  'test/cli/cli.full.test.ts': 77,
  'test/cli/cli.test.ts': 41,
  'test/cli/members.test.ts': 25,
  'test/cluster/cluster.test.ts': 33,
  'test/cluster/failover-faults.full.test.ts': 56,
  'test/cluster/faults.test.ts': 66,
  'test/cluster/network-faults.test.ts': 56,
  'test/database/postgres.test.ts': 37,
  'test/demo.test.ts': 40,
  'test/kill/report.full.test.ts': 23,
  'test/media/media-faults.full.test.ts': 55,
  'test/media/players.full.test.ts': 67,
  'test/media/watch-page.test.ts': 30,
  'test/player/chat.full.test.ts': 47,
  'test/player/moderation.full.test.ts': 28,
  'test/player/overlay-latency.full.test.ts': 50,
  'test/player/quiz.full.test.ts': 41,
  'test/player/show.full.test.ts': 48,
  'test/player/stage.full.test.ts': 46,
  'test/simulation/more-seeds.full.test.ts': 250,
  'test/simulation/simulation.test.ts': 250,
  'test/studio-api/rehearsal-crowd.full.test.ts': 38,
  'test/studio/foreign-playlist.full.test.ts': 73,
  'test/studio/display-winners.full.test.ts': 25,
  'test/studio/display.full.test.ts': 32,
  'test/studio/large-show.full.test.ts': 24,
  'test/studio/moderation.full.test.ts': 27,
  'test/studio/on-air-layout.full.test.ts': 50,
  'test/studio/outages.full.test.ts': 31,
  'test/studio/rehearsal.full.test.ts': 36,
  'test/studio/report.full.test.ts': 32,
  'test/studio/sales-and-webhooks.full.test.ts': 27,
  'test/studio/studio.full.test.ts': 21,
  'test/studio/whole-show.full.test.ts': 60,
};

/** Test files of `npm run test:full` alone. */
const IS_FULL = /\.full\.test\.tsx?$/;
/** A test file with one of these imports runs more rounds in `npm run test:full`. */
const HAS_ROUNDS = /\/(?:full-run|fault-tests)\.ts'/;

/**
 * The steps of a run: test files by path, and how many of them run at a time.
 * @param isFull for `npm run test:full`
 */
export function testPlan(isFull) {
  const files = testFiles().filter((file) =>
    isFull ? IS_FULL.test(file) || hasRounds(file) : !IS_FULL.test(file),
  );
  const steps = [
    // A fourth would make the services of the others exceed their time limits on two slow cores.
    { name: 'tests', atOnce: 3, files: [] },
    { name: 'tests of pages and viewers', atOnce: 2, files: [] },
    { name: 'tests of video', atOnce: 2, files: [] },
    { name: 'tests of whole services', atOnce: 4, files: [] },
    { name: 'tests of several nodes', atOnce: 2, files: [] },
    { name: 'tests that run alone', atOnce: 1, files: [] },
  ];
  for (const file of files) steps[stepOf(file)].files.push(file);
  return steps.filter((step) => step.files.length > 0);
}

function stepOf(file) {
  if (ALONE.includes(file)) return 5;
  if (NODES.includes(file)) return 4;
  if (SERVICES.includes(file)) return 3;
  if (VIDEO.includes(file)) return 2;
  return BUSY.test(file) ? 1 : 0;
}

/** Every test file of the project, by its path from the root with `/`. */
export function testFiles() {
  return readdirSync(projectDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
    .flatMap(({ name }) =>
      readdirSync(join(projectDir, name), { recursive: true })
        .filter((path) => /\.test\.tsx?$/.test(path))
        .map((path) => `${name}/${path.replaceAll('\\', '/')}`),
    )
    .sort();
}

function hasRounds(file) {
  return HAS_ROUNDS.test(readFileSync(join(projectDir, file), 'utf8'));
}

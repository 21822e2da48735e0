// Sends hostile requests to a service that it starts: `npm run hostile -- --requests N --seed N`, with
// `--cluster` to three nodes on PostgreSQL and Redis, with `--workers N` to nodes of several threads.
// `--from N --requests 1` with the seed of a run makes one of its requests again. It exits with 1 when it
// finds a violation.
import { parseArgs } from 'node:util';
import { type HostileReport, runHostile } from './support/hostile/hostile-run.ts';
import { startTarget } from './support/hostile/target.ts';

/** In the second half of a run, the memory of a node at rest may grow by this factor. */
const MEMORY_MAX = 1.03;
/**
 * Runs with fewer requests for each node do not judge memory: it grows from 186 to 205 MB in the first million, while
 * code is compiled and caches fill.
 */
const MEMORY_REQUESTS_MIN = 2_000_000;
/** Connections to databases open and close. */
const FILES_SLACK = 16;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    from: { type: 'string', default: '0' },
    cluster: { type: 'boolean', default: false },
    workers: { type: 'string', default: '1' },
  },
});
const requests = numberOf('requests');
const seed = numberOf('seed');
const from = numberOf('from');
const workers = numberOf('workers');

const backends = values.cluster ? '3 nodes on PostgreSQL and Redis' : 'embedded';
console.log(`${requests} hostile requests, seed ${seed}, ${backends}, workers: ${workers}`);
const target = await startTarget({ isCluster: values.cluster, workers });
try {
  let shownShare = 0;
  const report = await runHostile(target, {
    ...{ requests, seed, from },
    onProgress({ done, sendingMs, usages, isAtRest }) {
      const share = Math.floor((done / requests) * 20) / 20;
      if (share === shownShare && !isAtRest) return;
      shownShare = share;
      const perSecond = Math.round(done / (Math.max(1, sendingMs) / 1_000));
      const use = usages.map(
        (usage) => `${usage.memoryMb.toFixed(0)} MB, ${usage.openFiles} files`,
      );
      const when = isAtRest ? 'at rest' : 'between blocks';
      console.log(`${done} requests, ${perSecond}/s; ${when} ${use.join('; ')}`);
    },
  });
  process.exitCode = printReport(report) ? 0 : 1;
} finally {
  await target.stop();
}

function numberOf(name: 'requests' | 'seed' | 'from' | 'workers'): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} must be a whole number, 0 or more.`);
  process.exit(2);
}

/** @returns whether the service passed */
function printReport({ statuses, violations, usages }: HostileReport): boolean {
  const rows = [...statuses].map(([kind, counts]) => [
    kind,
    Object.fromEntries([...counts].sort(([one], [two]) => (one < two ? -1 : 1))),
  ]);
  console.table(Object.fromEntries(rows));
  for (const { number, label, violation, sent } of violations.slice(0, 20)) {
    console.log(`\nrequest ${number}, ${label}: ${violation}\n${JSON.stringify(sent)}`);
  }
  const areFilesLevel = haveLevelFiles(usages);
  const isMemoryJudged = requests / target.nodes.length >= MEMORY_REQUESTS_MIN;
  const isMemoryLevel = !isMemoryJudged || isLevel(usages);
  console.log(`${violations.length} violations`);
  if (!areFilesLevel) console.log('OPEN FILES GREW');
  if (!isMemoryJudged) {
    console.log(`memory is not judged: fewer than ${MEMORY_REQUESTS_MIN} requests for each node`);
  } else if (!isMemoryLevel) console.log('MEMORY GREW');
  return violations.length === 0 && areFilesLevel && isMemoryLevel;
}

/** Whether no node has more open files at the end than before the first request. */
function haveLevelFiles(usages: HostileReport['usages']): boolean {
  const [first = [], last = []] = [usages.at(0), usages.at(-1)];
  return last.every(
    ({ openFiles }, node) => openFiles <= (first[node]?.openFiles ?? 0) + FILES_SLACK,
  );
}

/** Whether no node has grown in the second half. */
function isLevel(usages: HostileReport['usages']): boolean {
  const [half = [], last = []] = [usages[Math.floor(usages.length / 2)], usages.at(-1)];
  return last.every(({ memoryMb }, node) => memoryMb <= (half[node]?.memoryMb ?? 0) * MEMORY_MAX);
}

// Sends hostile requests to a service that it starts: `npm run hostile -- --requests N --seed N`, with
// `--cluster` to three nodes on PostgreSQL and Redis, with `--workers N` to nodes of several threads.
// `--from N --requests 1` with the seed of a run makes one of its requests again. It exits with 1 when it
// finds a violation.
import { parseArgs } from 'node:util';
import { type HostileReport, runHostile } from './support/hostile/hostile-run.ts';
import { startTarget, type Usage } from './support/hostile/target.ts';

/** In the second half, memory at rest may grow by this much. */
const MEMORY_MAX = 1.03;
/** With fewer, memory still grows while code is compiled and caches fill: from 208 to 251 MB in the first million. */
const LEVEL_REQUESTS = 2_000_000;
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
  const startedMs = performance.now();
  let shownShare = 0;
  const report = await runHostile(target, {
    ...{ requests, seed, from },
    onProgress(done, { memoryMb, openFiles }, load) {
      const share = Math.floor((done / requests) * 20) / 20;
      if (share === shownShare && load === 'under load') return;
      shownShare = share;
      const perSecond = Math.round(done / ((performance.now() - startedMs) / 1_000));
      const use = `${memoryMb.toFixed(0)} MB, ${openFiles} open files ${load}`;
      console.log(`${Math.round(share * 100)} %: ${done} requests, ${perSecond}/s, ${use}`);
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
  const [first, last] = [usages.at(0), usages.at(-1)] as [Usage, Usage];
  const half = usages[usages.length / 2 - 1] ?? last;
  const isLevel = requests < LEVEL_REQUESTS || last.memoryMb <= half.memoryMb * MEMORY_MAX;
  const areFilesLevel = last.openFiles <= first.openFiles + FILES_SLACK;
  const memory = [first, half, last].map(({ memoryMb }) => `${memoryMb.toFixed(0)} MB`);
  console.log(
    `${violations.length} violations; memory at rest after a tenth, a half and all requests: ` +
      `${memory.join(', ')}${isLevel ? '' : ': IT GREW'}; ` +
      `open files ${first.openFiles}, then ${last.openFiles}${areFilesLevel ? '' : ': THEY GREW'}`,
  );
  return violations.length === 0 && isLevel && areFilesLevel;
}

// Runs every fault in full: `npm run faults`, or `npm run faults -- NAME… --rounds N --seed N`.
// It needs root for some faults and skips those otherwise. It exits with 1 when it finds a violation,
// and with 2 for an unknown name.
import { parseArgs } from 'node:util';
import { type FaultReport, runFault, summaryOf } from './support/cluster/fault-run.ts';
import { FAULTS } from './support/cluster/faults.ts';

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string' }, seed: { type: 'string' } },
});
const known = FAULTS.map(({ name }) => name);
const unknown = names.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`There is no fault ${unknown}. The faults are: ${known.join(', ')}.`);
  process.exit(2);
}

const reports: FaultReport[] = [];
const skipped: string[] = [];
for (const fault of FAULTS) {
  if (names.length > 0 && !names.includes(fault.name)) continue;
  const skipReason = (await fault.skipReason?.()) ?? null;
  if (skipReason !== null) {
    console.log(`${fault.name}: SKIPPED, because ${skipReason}`);
    skipped.push(fault.name);
    continue;
  }
  const rounds = Number(values.rounds ?? fault.rounds.full);
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  console.log(`\n${fault.name}: ${fault.title}; ${rounds} rounds, seed ${seed}`);
  const report = await runFault(fault, { rounds, seed, isFull: true, onProgress: console.log });
  reports.push(report);
  console.log(summaryOf(report));
  for (const violation of report.violations.slice(0, 20)) console.log(`  ${violation}`);
  for (const failure of report.overloadFailures.slice(0, 10)) {
    console.log(`  while overloaded: ${failure}`);
  }
  if (report.log !== '') console.log(report.log);
}

console.table(
  reports.map(({ name, rounds, figures, recoveryMs, violations }) => ({
    fault: name,
    rounds,
    requests: figures.requests,
    acknowledged: figures.acknowledged,
    unknown: figures.unknown,
    refused: figures.refused,
    '503': figures.unavailable,
    'slowest 503 (ms)': Math.round(figures.maxUnavailableMs),
    'recovery (ms)': `${recoveryMs.median.toFixed(0)}, max ${recoveryMs.max.toFixed(0)}`,
    violations: violations.length,
    'while overloaded': figures.overloadFailures,
  })),
);
const failed = reports.filter(({ violations }) => violations.length > 0);
console.log(
  `${reports.length} faults, ${failed.length} with violations, ${skipped.length} skipped` +
    (skipped.length > 0 ? ` (${skipped.join(', ')})` : ''),
);
process.exit(failed.length > 0 ? 1 : 0);

import { parseArgs } from 'node:util';
import { lineOf, type Report, runFault } from './support/cluster/fault-run.ts';
import { FAULTS } from './support/cluster/faults.ts';

// Every fault in full: `npm run faults`, or `npm run faults -- NAME… --rounds N --seed N`.

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string' }, seed: { type: 'string' } },
});
const known = FAULTS.map(({ name }) => name);
const unknown = names.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`There is no fault ${unknown}. There are: ${known.join(', ')}.`);
  process.exit(2);
}

const reports: Report[] = [];
const skipped: string[] = [];
for (const fault of FAULTS) {
  if (names.length > 0 && !names.includes(fault.name)) continue;
  const reason = (await fault.unable?.()) ?? null;
  if (reason !== null) {
    console.log(`${fault.name}: SKIPPED, because ${reason}`);
    skipped.push(fault.name);
    continue;
  }
  const rounds = Number(values.rounds ?? fault.rounds.full);
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  console.log(`\n${fault.name}: ${fault.title}; ${rounds} rounds, seed ${seed}`);
  const report = await runFault(fault, { rounds, seed, isFull: true, onProgress: console.log });
  reports.push(report);
  console.log(lineOf(report));
  for (const violation of report.violations.slice(0, 20)) console.log(`  ${violation}`);
  for (const excuse of report.excuses.slice(0, 10)) console.log(`  overloaded: ${excuse}`);
  if (report.log !== '') console.log(report.log);
}

console.table(
  reports.map(({ name, rounds, figures, rightMs, violations }) => ({
    fault: name,
    rounds,
    requests: figures.requests,
    acknowledged: figures.acknowledged,
    unknown: figures.unknown,
    refused: figures.refused,
    '503': figures.unavailable,
    'latest 503 (ms)': Math.round(figures.unavailableMs),
    'right again (ms)': `${rightMs.median.toFixed(0)}, max ${rightMs.max.toFixed(0)}`,
    violations: violations.length,
    excused: figures.excused,
  })),
);
const violated = reports.filter(({ violations }) => violations.length > 0);
console.log(
  `${reports.length} faults, ${violated.length} with violations, ${skipped.length} skipped` +
    (skipped.length > 0 ? ` (${skipped.join(', ')})` : ''),
);
process.exit(violated.length > 0 ? 1 : 0);

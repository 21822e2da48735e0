// Simulates the service under faults in virtual time: `npm run simulate -- --seeds N`, with `--from N` for
// other seeds and `--faults "kill a node,stall a node"` for some kinds only. `--seed N` runs one seed and
// prints what happened. It exits with 1 when it finds a violation, and with 2 for a wrong option.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Coverage, STATES } from './support/simulation/coverage.ts';
import { FAULT_KINDS, type FaultKind } from './support/simulation/faults.ts';
import { planOf } from './support/simulation/plan.ts';
import {
  describeFailure,
  openSimulations,
  runSeeds,
  sumOfHashes,
} from './support/simulation/seed-run.ts';
import { simulate } from './support/simulation/simulation.ts';

/** A part of the seeds, as a process of its own reports it on standard output. */
interface PartReport {
  readonly seeds: number;
  readonly virtualMs: number;
  readonly faults: number;
  readonly requests: number;
  readonly coverage: readonly (readonly [string, number])[];
  readonly failures: readonly string[];
  readonly hash: string;
}

const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    faults: { type: 'string' },
    processes: { type: 'string', default: String(cpus().length) },
    // Seeds of one process; `--print` prints the report as JSON instead of sending it.
    part: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    failures: { type: 'string', default: '5' },
  },
});
const kinds = faultKinds(values.faults);
if (values.seed !== undefined) await runOne(numberOf('seed'));
else if (values.part) await runPart();
else await runAll();

function numberOf(name: 'seeds' | 'from' | 'seed' | 'processes' | 'failures'): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  return endWith(`--${name} must be a whole number, 0 or more.`);
}

function faultKinds(text: string | undefined): readonly FaultKind[] {
  if (text === undefined) return FAULT_KINDS;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !FAULT_KINDS.includes(name as FaultKind));
  if (unknown === undefined) return names as FaultKind[];
  return endWith(`There is no fault "${unknown}". The faults are: ${FAULT_KINDS.join(', ')}.`);
}

function endWith(message: string): never {
  console.error(message);
  process.exit(2);
}

async function runOne(seed: number): Promise<void> {
  const template = await openSimulations();
  const plan = planOf(seed, kinds);
  const { violations, timeline, hash, figures } = simulate(plan, template);
  template.close();
  console.log(`seed ${seed}: ${plan.isEmbedded ? 'one process' : `${plan.nodes} nodes`}`);
  for (const line of timeline.lines()) console.log(`  ${line}`);
  for (const violation of violations) console.log(`  violation: ${violation}`);
  console.log(`${violations.length} violations, ${figures.requests} requests, hash ${hash}`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}

async function runPart(): Promise<void> {
  const template = await openSimulations();
  let shownMs = performance.now();
  const report = await runSeeds(template, {
    ...{
      from: numberOf('from'),
      seeds: numberOf('seeds'),
      kinds,
      failuresMax: numberOf('failures'),
    },
    onSeed: (done, failures) => {
      if (performance.now() - shownMs < PROGRESS_MS) return;
      shownMs = performance.now();
      process.send?.({ done, failures });
    },
  });
  template.close();
  const { coverage, failed, ...sums } = report;
  const failures = failed.map(describeFailure);
  const part: PartReport = { ...sums, coverage: [...coverage.counts], failures };
  if (values.print) console.log(JSON.stringify(part));
  else process.send?.(part);
}

async function runAll(): Promise<void> {
  const [seeds, from] = [numberOf('seeds'), numberOf('from')];
  const processes = Math.max(1, Math.min(numberOf('processes'), seeds));
  const startMs = performance.now();
  const progress = new Array<number>(processes).fill(0);
  const show = () => {
    const done = progress.reduce((sum, part) => sum + part, 0);
    const perSecond = done / ((performance.now() - startMs) / 1_000);
    console.log(`${done} of ${seeds} seeds, ${perSecond.toFixed(1)} a second`);
  };
  const timer = setInterval(show, PROGRESS_MS);
  const share = Math.ceil(seeds / processes);
  const parts = Array.from({ length: processes }, (_, index) => {
    const count = Math.max(0, Math.min(share, seeds - index * share));
    return startPart(from + index * share, count, (done) => {
      progress[index] = done;
    });
  });
  const reports = await Promise.all(parts);
  clearInterval(timer);
  printReport(reports, (performance.now() - startMs) / 1_000);
}

function startPart(
  from: number,
  seeds: number,
  onProgress: (done: number) => void,
): Promise<PartReport> {
  return new Promise((resolve, reject) => {
    const failures = ['--failures', `${values.failures}`];
    const options = ['--part', '--from', `${from}`, '--seeds', `${seeds}`, ...failures];
    const faults = values.faults === undefined ? [] : ['--faults', values.faults];
    let isReported = false;
    Bun.spawn([process.execPath, import.meta.path, ...options, ...faults], {
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message: PartReport | { done: number }) => {
        if ('done' in message) return onProgress(message.done);
        isReported = true;
        resolve(message);
      },
      onExit: () => {
        if (!isReported) reject(new Error(`the seeds from ${from} on ended without a report`));
      },
    });
  });
}

function printReport(reports: readonly PartReport[], seconds: number): void {
  const sum = (name: 'seeds' | 'virtualMs' | 'faults' | 'requests') =>
    reports.reduce((total, report) => total + report[name], 0);
  const coverage = new Coverage();
  for (const report of reports) {
    for (const [state, times] of report.coverage) coverage.add(state, times);
  }
  const failures = reports.flatMap((report) => report.failures);
  for (const failure of failures) console.log(`\n${failure}`);
  if (failures.length > 0) {
    const sameFaults = values.faults === undefined ? '' : ` --faults "${values.faults}"`;
    console.log(
      `\nnpm run simulate -- --seed N${sameFaults} runs a seed again, with all its faults.`,
    );
  }
  console.table(
    Object.fromEntries(STATES.map((state) => [state, coverage.counts.get(state) ?? 0])),
  );
  const hours = sum('virtualMs') / 3_600_000;
  console.log(
    `${sum('seeds')} seeds in ${seconds.toFixed(0)} s (${(sum('seeds') / seconds).toFixed(1)} a second): ` +
      `${hours.toFixed(1)} virtual hours, ${sum('faults')} faults, ${sum('requests')} requests; ` +
      `${coverage.missing().length} states not reached; ${failures.length} seeds with violations`,
  );
  // Two commits with the same hash gave each simulated client the same responses.
  console.log(`hash of all responses: ${sumOfHashes(reports.map((report) => report.hash))}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

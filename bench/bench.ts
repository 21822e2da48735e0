import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { BENCHES } from './benches.ts';
import { fillPage } from './page/page.ts';
import { RESULTS_FOLDER } from './page/results.ts';
import { type Bench, IncorrectResponse } from './run/bench.ts';
import { chartOf } from './run/chart.ts';
import { missingDependencies } from './run/dependencies.ts';
import { createProgress } from './run/progress.ts';
import { type Machine, type StoredResult, verdictOf } from './run/result.ts';
import { tableOf } from './run/table.ts';

const names = BENCHES.map(({ name }) => name);
const list = BENCHES.map(({ name, description }) => `  ${name.padEnd(12)}${description}`).join(
  '\n',
);

const program = new Command('bench')
  .description('measures Fourbeat and alternatives, and writes tables, JSON and charts')
  .argument('[name...]', 'benchmarks to run (default: all)', nameOf)
  .option(
    '--rounds <number>',
    'measurements of each contender (some benchmarks run fewer)',
    atLeast(1),
    5,
  )
  // A heartbeat counts for a second; the check of the count needs another one.
  .option(
    '--seconds <number>',
    'seconds of each measurement (some benchmarks need more)',
    atLeast(2),
    4,
  )
  .option('--out <folder>', 'folder of JSON files and charts', 'bench-results')
  .option('--page', 'write results to docs/performance, and docs/performance/tables.md')
  .addHelpText('after', `\nBenchmarks:\n${list}`)
  .parse();

function nameOf(name: string, before: string[] = []): string[] {
  if (!names.includes(name))
    throw new InvalidArgumentError(`It must be one of ${names.join(', ')}.`);
  return [...before, name];
}

function atLeast(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`);
  };
}

// Exit listeners end the started programs; signals do not cause an 'exit' event by themselves.
for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })) {
  process.on(signal, () => process.exit(code));
}

const { rounds, seconds, out, page = false } = program.opts();
const chosen = BENCHES.filter(
  ({ name }) => program.args.length === 0 || program.args.includes(name),
);
requireAll(chosen);
const folder = page ? RESULTS_FOLDER : resolve(out);
const progress = createProgress(process.stderr.isTTY === true);
const machine: Machine = {
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGB: Math.round(totalmem() / 2 ** 30),
  bun: Bun.version,
  system: `${process.platform} ${process.arch}`,
};
mkdirSync(folder, { recursive: true });
console.log(
  `${machine.processor}, ${machine.cores} cores, ${machine.memoryGB} GB, Bun ${machine.bun}\n`,
);

let [missed, failed] = [0, 0];
for (const bench of chosen) {
  const result = await bench.run({ rounds, seconds, progress }).catch((error) => {
    progress.clear();
    failed += 1;
    // An incorrect response needs no stack; any other error is a defect of the benchmark.
    console.error(
      `${bench.name}: ${error instanceof IncorrectResponse ? error.message : error?.stack}`,
    );
    return null;
  });
  if (!result) continue;
  progress.clear();
  console.log(`${tableOf(result)}\n`);
  const madeAt = new Date().toISOString();
  const stored: StoredResult = { madeAt, machine, rounds, seconds, ...result };
  writeFileSync(join(folder, `${bench.name}.json`), `${JSON.stringify(stored, null, 2)}\n`);
  writeFileSync(join(folder, `${bench.name}.svg`), chartOf(result));
  if (result.failures?.length) failed += 1;
  missed += result.targets.filter((target) => verdictOf(target) === 'missed').length;
}
console.log(`JSON and charts are in ${folder}`);
if (page) fillPage();
if (missed > 0) console.log(`${missed} targets are missed: see the tables`);
if (failed > 0) console.log(`${failed} of ${chosen.length} benchmarks failed: see above`);
// Open connections to ended servers would delay the exit.
process.exit(failed > 0 ? 1 : 0);

/** Exits with 1 at once when a required program is missing. */
function requireAll(benches: readonly Bench[]): void {
  const missing = missingDependencies(benches.flatMap(({ requires = [] }) => requires));
  if (missing.length === 0) return;
  console.error(
    `Required programs are missing. Install them with: apt-get install --no-install-recommends ${missing.join(' ')}`,
  );
  process.exit(1);
}

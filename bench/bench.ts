import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { BENCHES } from './benches.ts';
import { fillPage } from './page/fill.ts';
import { RESULTS_FOLDER } from './page/results.ts';
import { type Bench, WrongAnswer } from './run/bench.ts';
import { chartOf } from './run/chart.ts';
import { missingOf } from './run/needed.ts';
import { createProgress } from './run/progress.ts';
import { type Machine, type MadeResult, verdictOf } from './run/result.ts';
import { tableOf } from './run/table.ts';

const names = BENCHES.map(({ name }) => name);
const list = BENCHES.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n');

const program = new Command('bench')
  .description('measures Fourbeat beside what others would use, and writes tables, JSON and charts')
  .argument('[name...]', 'what to measure; all of it when none is named', nameOf)
  .option('--rounds <number>', 'how often those that are compared take turns', atLeast(1), 5)
  // Who is counted is there for a second: in the next one it is seen whether all are.
  .option('--seconds <number>', 'how long a turn is', atLeast(2), 4)
  .option('--out <folder>', 'where JSON and charts are written', 'bench-results')
  .option('--page', 'writes to docs/performance, and the tables of docs/performance.md from there')
  .addHelpText('after', `\nMeasurements:\n${list}`)
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

// What was started ends with this process, and 'exit' comes of no signal by itself.
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
    // A wrong answer says all there is to say; anything else is a fault of the bench.
    console.error(`${bench.name}: ${error instanceof WrongAnswer ? error.message : error?.stack}`);
    return null;
  });
  if (!result) continue;
  progress.clear();
  console.log(`${tableOf(result)}\n`);
  const madeAt = new Date().toISOString();
  const made: MadeResult = { madeAt, machine, rounds, seconds, ...result };
  writeFileSync(join(folder, `${bench.name}.json`), `${JSON.stringify(made, null, 2)}\n`);
  writeFileSync(join(folder, `${bench.name}.svg`), chartOf(result));
  if (result.failures?.length) failed += 1;
  missed += result.targets.filter((target) => verdictOf(target) === 'missed').length;
}
console.log(`JSON and charts are in ${folder}`);
if (page) fillPage(folder);
if (missed > 0) console.log(`${missed} of the targets not reached: see the tables`);
if (failed > 0) console.log(`${failed} of ${chosen.length} measurements failed: see above`);
// Connections to servers that are gone would keep the process for a while.
process.exit(failed > 0 ? 1 : 0);

/** Says at once what is missing, not after half an hour. */
function requireAll(benches: readonly Bench[]): void {
  const missing = missingOf(benches.flatMap(({ needs = [] }) => needs));
  if (missing.length === 0) return;
  console.error(
    `This machine lacks what is measured with: apt-get install --no-install-recommends ${missing.join(' ')}`,
  );
  process.exit(1);
}

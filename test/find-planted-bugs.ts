// Puts known defects into a copy of the source, one after the other, and shows how many seeds the
// simulation needs to find each: `npm run guards -- --simulation WORDS`.
import { spawnSync } from 'node:child_process';
import { withChangedCopy } from './support/changed-copy.ts';
import { PLANTED_BUGS } from './support/simulation/planted-bugs.ts';

const SEEDS_MAX = 2_000;

/** @returns whether the simulation found every defect whose name contains `words` */
export function checkPlantedBugs(words: string): boolean {
  const bugs = PLANTED_BUGS.filter(({ name }) => name.includes(words));
  if (bugs.length === 0) throw new Error(`no planted bug has these words in its name: ${words}`);
  console.log('| planted bug | breaks | seeds | violation |\n|---|---|--:|---|');
  let foundAll = true;
  for (const { name, breaks, changes } of bugs) {
    const { seeds, violation } = withChangedCopy(changes, findIn);
    foundAll &&= seeds !== null;
    console.log(`| ${name} | ${breaks} | ${seeds ?? 'NOT FOUND'} | ${violation} |`);
  }
  return foundAll;
}

function findIn(copy: string): { seeds: number | null; violation: string } {
  const options = ['--part', '--print', '--seeds', `${SEEDS_MAX}`, '--failures', '1'];
  const { stdout } = spawnSync(process.execPath, ['test/simulate.ts', ...options], {
    cwd: copy,
    encoding: 'utf8',
  });
  const report = stdout.split('\n').find((line) => line.startsWith('{'));
  const { seeds, failures } = JSON.parse(report ?? '{"seeds":0,"failures":[]}') as {
    seeds: number;
    failures: string[];
  };
  const violation = /violation: (.*)/.exec(failures[0] ?? '')?.[1] ?? '';
  return { seeds: violation === '' ? null : seeds, violation: violation.slice(0, 160) };
}

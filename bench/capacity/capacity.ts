import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../run/result.ts';
import { markdown, number } from '../run/table.ts';
import { CORE_USE, type Costs, NODE_CORES, needOf, type Show, type Way } from './model.ts';

// `npm run bench:capacity` prints the tables of capacity in docs/performance.md from the results there.
// `npm run bench:capacity -- FOLDER`: from those in another folder, such as bench-results.

const FOLDER = process.argv[2] ?? join(import.meta.dir, '../../docs/performance');
const VIEWERS = [10_000, 100_000, 1_000_000, 10_000_000];
const WAYS: Readonly<Record<Way, string>> = {
  polling: 'each viewer asks for each interval',
  push: 'an event stream to each viewer',
  cdn: 'each viewer asks a CDN for each interval',
};
/** Four of five viewers answer within 10 s. */
const SHOW = { answering: 0.8, quizS: 10 };

const HEAD = [
  'viewers',
  'cores',
  'nodes',
  'memory, GB',
  'requests/s at nodes',
  'Redis, cores',
  'PostgreSQL, cores',
  'CDN, million requests/h',
  'sent, GB/h',
];

// Of docs/scale.md: 52 µs for a bitset of 1,730 bytes and 278 µs for one of 125,482, on 20 nodes.
const BITSET_BYTE_US = (278 - 52) / (125_482 - 1_730);
const BITSET_US = 52 - 1_730 * BITSET_BYTE_US;

// What goes to a viewer, as `feed` and `push` send it: the head of an answer, the body of an interval
// in which people write, and what an event stream puts around it.
const HEAD_BYTES = 420;
const BODY_BYTES = 575;
const FRAME_BYTES = 40;

/** The median of a figure that was measured. @throws Error when it was not */
function measured(bench: string, row: string, name: string): number {
  const { rows }: Result = JSON.parse(readFileSync(join(FOLDER, `${bench}.json`), 'utf8'));
  const spread = rows.find((one) => one.name === row)?.figures[name];
  if (!spread) throw new Error(`${bench}.json has no "${name}" of "${row}"`);
  return spread.median;
}

function measuredCosts(): Costs {
  const cpu = (bench: string, row: string) => measured(bench, row, 'CPU µs a request');
  return {
    heartbeatUs: cpu('heartbeat', 'Fourbeat'),
    feedReadUs: cpu('feed', 'Fourbeat'),
    pushMessageUs: measured('push', 'Fourbeat, event stream', 'CPU µs a message'),
    answerUs: cpu('answer', 'Fourbeat, PostgreSQL'),
    tokenUs: cpu('token', 'issued: Fourbeat'),
    answerRowsPerCoreS: measured('answer', 'PostgreSQL by itself', 'requests/s'),
    bitsetUs: BITSET_US,
    bitsetByteUs: BITSET_BYTE_US,
    viewerBytes: measured('viewers', 'memory of a viewer who polls', 'bytes a viewer'),
    feedReadBytes: HEAD_BYTES + BODY_BYTES,
    pushMessageBytes: FRAME_BYTES + BODY_BYTES,
    heartbeatBytes: HEAD_BYTES,
  };
}

const costs = measuredCosts();
console.log(
  `Cores are used to ${CORE_USE * 100} %, a node has ${NODE_CORES} of them, and ${SHOW.answering * 100} % answer a quiz in ${SHOW.quizS} s.\n`,
);
for (const way of Object.keys(WAYS) as Way[]) {
  const rows = VIEWERS.map((viewers) => rowOf({ ...SHOW, viewers, way }));
  console.log(`${[`**${WAYS[way]}**`, '', ...markdown(HEAD, rows)].join('\n')}\n`);
}

function rowOf(show: Show): string[] {
  const need = needOf(show, costs);
  return [
    number(show.viewers),
    number(need.cores),
    number(need.nodes),
    number(need.memoryGB),
    number(need.originRequestsS),
    number(need.redisCores),
    number(need.postgresCores),
    number(need.cdnMillionsH),
    number(need.sentGBH),
  ];
}

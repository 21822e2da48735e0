import { verdictOf } from '../run/result.ts';
import { formatNumber, limitOf, markdownTable, spreadText, VERDICTS } from '../run/table.ts';
import { MissingFigureError, type Results } from './results.ts';

/** The rows of the target table: what is measured, the benchmark, and which of its targets decide it. */
const TARGET_ROWS: readonly (readonly [what: string, bench: string, target: RegExp])[] = [
  ['heartbeat, token checked, against nginx `return 204`, times', 'heartbeat', /^against nginx/],
  [
    'heartbeat against Fastify with `@fastify/jwt` doing the same, times',
    'heartbeat',
    /^against Fastify/,
  ],
  [
    'feed, sealed interval, token checked, against nginx with a static file of that size, times',
    'feed',
    /^against nginx/,
  ],
  ['durable answer against our own heartbeat, times', 'answer', /^against Fourbeat, heartbeat/],
  ['push: messages a CPU second against Socket.IO, times', 'push', /^against Socket\.IO/],
  ['viewers, polling, one core, p99 under 50 ms', 'viewers', /^viewers, polling/],
  ['viewers, push, one core, interval delivered within 250 ms of its end, p99', 'viewers', /push/],
  ['close: 20,000 answers in 2 s, all decided and durable, p99, ms', 'close', /p99/],
  ['memory of a viewer who polls, KB', 'viewers', /memory/],
  ['growth exponent of CPU over viewers', 'growth', /over viewers/],
  ['growth exponent of CPU over idle streams', 'growth', /idle streams/],
];

/**
 * The targets and their results as a Markdown table.
 * @throws MissingFigureError when a benchmark with a result has no target for its row
 */
export function targetTable(results: Results): string[] {
  const rows = TARGET_ROWS.flatMap(([what, bench, pattern]) => {
    const result = results.get(bench);
    if (!result) return [[what, '', '', '', '', 'not measured']];
    const targets = result.targets.filter(({ name }) => pattern.test(name));
    if (targets.length === 0 && result.failures?.length) {
      return [[what, '', '', '', '', `failed: see ${bench}`]];
    }
    if (targets.length === 0) {
      throw new MissingFigureError(`${bench}.json has no target for "${what}"`);
    }
    return targets.map((target) => [
      what,
      `${bench}: ${target.name}`,
      limitOf(target),
      formatNumber(target.aim),
      spreadText(target.value),
      VERDICTS[verdictOf(target)],
    ]);
  });
  return markdownTable(['what', 'target of', 'limit', 'aim', 'measured', 'reached?'], rows);
}

import { type Target, verdictOf } from '../run/result.ts';
import { limitOf, markdown, number, spreadText, VERDICTS } from '../run/table.ts';
import { MissingFigureError, type Results } from './results.ts';

/** A row of the target table, with the targets of a benchmark that decide it. */
interface ReachRow {
  readonly what: string;
  readonly bench: string;
  readonly target: RegExp;
}

const REACH: readonly ReachRow[] = [
  {
    what: 'heartbeat, token checked, against nginx `return 204`, times',
    bench: 'heartbeat',
    target: /^against nginx/,
  },
  {
    what: 'heartbeat against Fastify with `@fastify/jwt` doing the same, times',
    bench: 'heartbeat',
    target: /^against Fastify/,
  },
  {
    what: 'feed, sealed interval, token checked, against nginx with a static file of that size, times',
    bench: 'feed',
    target: /^against nginx/,
  },
  {
    what: 'durable answer against our own heartbeat, times',
    bench: 'answer',
    target: /^against Fourbeat, heartbeat/,
  },
  {
    what: 'push: messages a CPU second against Socket.IO, times',
    bench: 'push',
    target: /^against Socket\.IO/,
  },
  {
    what: 'viewers, polling, one core, p99 under 50 ms',
    bench: 'viewers',
    target: /^viewers, polling/,
  },
  {
    what: 'viewers, push, one core, interval delivered within 250 ms of its end, p99',
    bench: 'viewers',
    target: /push/,
  },
  {
    what: 'close: 20,000 answers in 2 s, all decided and durable, p99, ms',
    bench: 'close',
    target: /p99/,
  },
  { what: 'memory of a viewer who polls, KB', bench: 'viewers', target: /memory/ },
  { what: 'growth exponent of CPU over viewers', bench: 'growth', target: /over viewers/ },
  {
    what: 'growth exponent of CPU over idle streams',
    bench: 'growth',
    target: /idle streams/,
  },
];

/**
 * The targets and their results as a Markdown table.
 * @throws MissingFigureError when a benchmark with a result has no target for its row
 */
export function reachLines(results: Results): string[] {
  const rows = REACH.flatMap((row) => {
    const result = results.get(row.bench);
    if (!result) return [[row.what, '', '', '', '', 'not measured']];
    const targets = result.targets.filter(({ name }) => row.target.test(name));
    if (targets.length === 0 && result.failures?.length) {
      return [[row.what, '', '', '', '', `failed: see ${row.bench}`]];
    }
    if (targets.length === 0) {
      throw new MissingFigureError(`${row.bench}.json has no target for "${row.what}"`);
    }
    return targets.map((target) => cells(row, target));
  });
  return markdown(['what', 'target of', 'limit', 'aim', 'measured', 'reached?'], rows);
}

function cells({ what, bench }: ReachRow, target: Target): string[] {
  return [
    what,
    `${bench}: ${target.name}`,
    limitOf(target),
    number(target.aim),
    spreadText(target.value),
    VERDICTS[verdictOf(target)],
  ];
}

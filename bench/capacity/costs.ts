import { REQUESTS_PER_PERIOD } from '../load/schedule.ts';
import { type Figure, figureOf, type Results } from '../page/results.ts';
import type { Costs } from './model.ts';

/** A unit cost and where it was measured. */
export interface Source {
  readonly cost: keyof Costs;
  readonly value: number;
  /** File, row and figure, as Markdown. */
  readonly from: string;
}

/** The benchmark, row and figure of a cost. */
interface FigureReference {
  readonly bench: string;
  /** A name, or a pattern that selects the match with the most viewers or nodes. */
  readonly row: string | RegExp;
  readonly name: string;
  /** The figure is divided by this number of requests. */
  readonly divisor?: number;
}

const POLLING = /^([\d,]+) viewers$/;
const EVENT_STREAMS = /^([\d,]+) event streams$/;
const NODES = /^(\d+) nodes?, /;

// From docs/scale.md: 52 µs for a bitset of 1,730 bytes and 278 µs for one of 125,482, on 20 nodes.
const BITSET_BYTE_US = (278 - 52) / (125_482 - 1_730);
const BITSET_US = 52 - 1_730 * BITSET_BYTE_US;
const FROM_SCALE = { bitsetUs: BITSET_US, bitsetByteUs: BITSET_BYTE_US };
const SCALE_SOURCE =
  '[scale.md](../scale.md), *CPU per bitset* of 20 nodes with 10,000 and 1,000,000 seats';

const MEASURED: Readonly<Record<Exclude<keyof Costs, keyof typeof FROM_SCALE>, FigureReference>> = {
  requestUs: {
    bench: 'growth',
    row: POLLING,
    name: 'CPU µs/s of each',
    divisor: REQUESTS_PER_PERIOD,
  },
  messageUs: { bench: 'viewers', row: EVENT_STREAMS, name: 'CPU µs of each' },
  answerUs: { bench: 'answer', row: 'Fourbeat, PostgreSQL', name: 'CPU µs a request' },
  tokenUs: { bench: 'token', row: 'issued: Fourbeat', name: 'CPU µs a request' },
  answerRowsPerCoreSecond: { bench: 'answer', row: 'PostgreSQL by itself', name: 'requests/s' },
  postgresMsPerS: { bench: 'growth', row: NODES, name: 'PostgreSQL CPU ms/s' },
  redisCommandsPerS: { bench: 'growth', row: NODES, name: 'Redis commands/s of a node' },
  pollingBytes: { bench: 'viewers', row: 'memory of a viewer who polls', name: 'bytes a viewer' },
  streamBytes: { bench: 'viewers', row: 'memory of an event stream', name: 'bytes a viewer' },
  heartbeatBytes: { bench: 'heartbeat', row: 'Fourbeat', name: 'bytes a response' },
  readBytes: { bench: 'feed', row: 'Fourbeat', name: 'bytes a response' },
  messageBytes: {
    bench: 'push',
    row: 'Fourbeat, event stream, 5,000 clients',
    name: 'bytes a message',
  },
};

/** All costs of the model. @throws MissingFigureError for the first that no result contains */
export function sourcesOf(results: Results): Source[] {
  const measured = Object.entries(MEASURED) as [keyof Costs, FigureReference][];
  const fromScale = Object.entries(FROM_SCALE) as [keyof Costs, number][];
  return [
    ...measured.map(([cost, { bench, row, name, divisor = 1 }]) => {
      const figure = figureOf(results, bench, row, name);
      return { cost, value: figure.median / divisor, from: fromOf(figure, divisor) };
    }),
    ...fromScale.map(([cost, value]) => ({ cost, value, from: SCALE_SOURCE })),
  ];
}

function fromOf({ bench, row, name }: Figure, divisor: number): string {
  return `\`${bench}.json\`, ${row}, *${name}*${divisor === 1 ? '' : ` / ${divisor}`}`;
}

export function costsOf(sources: readonly Source[]): Costs {
  return Object.fromEntries(sources.map(({ cost, value }) => [cost, value])) as Record<
    keyof Costs,
    number
  >;
}

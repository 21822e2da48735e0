import { createLibrary, readLibrarySources } from '../../../../server/storage/redis/library.ts';
import type { FunctionCall, RedisValue } from '../../../../server/storage/redis/redis.ts';
import {
  BITSET_KEYS,
  BLOCKS_KEY,
  CLOCK_KEY,
  DATA_SET,
  type LibraryStep,
  SEALING_KEYS,
} from './library-sequence.ts';

/** A server that runs the library with the time of the test. */
export interface ReplayTarget {
  call(call: FunctionCall): Promise<unknown>;
  /** Replies are texts, with bytes as latin1. */
  command(...words: (string | number)[]): Promise<unknown>;
}

const TIME_CALL = "redis.call('TIME')";

/** The library, with a clock that a function sets. Nothing else is changed. */
export const STEPPED_LIBRARY = createLibrary(
  [
    "local test_time = { '0', '0' }",
    "define('fourbeat_set_time', function(keys, values)",
    '  test_time = { values[1], values[2] }',
    'end)',
    readLibrarySources().replaceAll(TIME_CALL, 'test_time'),
  ].join('\n'),
);

/** @returns a call that sets the clock of `STEPPED_LIBRARY` */
export function setTimeCall(nowMs: number): FunctionCall {
  const seconds = Math.floor(nowMs / 1_000);
  return {
    name: 'fourbeat_set_time',
    keys: ['{f}'],
    values: [String(seconds), String(Math.floor((nowMs - seconds * 1_000) * 1_000))],
  };
}

/** Executes the steps of a sequence on a server, and normalizes the replies. */
export class LibraryReplay {
  private dataSet: RedisValue = '';

  constructor(private readonly target: ReplayTarget) {}

  /** @returns the reply without what is random in it, or the code of the error */
  async execute(step: LibraryStep): Promise<unknown> {
    if (step.kind === 'command') return this.target.command(...step.words);
    if (step.kind !== 'call') return null;
    const values = step.values.map((value) => (value === DATA_SET ? this.dataSet : value));
    const { name, keys } = step;
    try {
      const reply = await this.target.call({ name, keys, values });
      if (name === 'fourbeat_report') this.dataSet = (reply as Uint8Array[])[3] ?? this.dataSet;
      return normalized(reply);
    } catch (error) {
      return `error ${/^[A-Z]+/.exec((error as Error).message)?.[0]}`;
    }
  }

  /** All data. */
  async dump(): Promise<unknown> {
    const [state = '', nodes = '', parts = '', labels = '', watched = '', log = ''] = SEALING_KEYS;
    const { target } = this;
    const read = async (...words: string[]) => [
      words[1],
      normalized(await target.command(...words)),
    ];
    return Promise.all([
      ...[state, nodes, CLOCK_KEY].map((key) => read('HGETALL', key)),
      ...[labels, watched, BLOCKS_KEY].map((key) => read('ZRANGE', key, '0', '-1')),
      ...[parts, log].map((key) => read('XLEN', key)),
      ...BITSET_KEYS.map((key) => read('BITCOUNT', key)),
      ['keys', ((await target.command('KEYS', '*')) as string[]).toSorted()],
    ]);
  }
}

/** Bytes as latin1 text, and each run id as a word. */
function normalized(reply: unknown): unknown {
  if (reply instanceof Uint8Array) return normalized(Buffer.from(reply).toString('latin1'));
  if (Array.isArray(reply)) return reply.map(normalized);
  return typeof reply === 'string' ? reply.replace(/^[0-9a-f]{40}:/, 'run:') : reply;
}

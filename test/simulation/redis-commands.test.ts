import { afterAll, expect, test } from 'bun:test';
import { startRedis } from '../support/backends/redis.ts';
import { openCommandConnection } from '../support/backends/redis-program.ts';
import { rounds } from '../support/full-run.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createRedisModel } from '../support/simulation/redis/redis-model.ts';

const COMMANDS = rounds(4_000, 40_000);
const TEST_MS = rounds(20_000, 120_000);

const server = await startRedis({ persistence: false });
const commands = openCommandConnection(server.port);
afterAll(async () => {
  commands.close();
  await server.stop();
});

const KEYS = ['text', 'hash', 'set', 'stream'].flatMap((type) => [`${type}1`, `${type}2`]);

/** Makes random commands, many of them with unusual or invalid arguments. */
function commandSource(random: () => number): () => string[] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  /** Mostly a key of one type, or the commands would rarely meet a value of theirs. */
  const keyOf = (type: string) => (random() < 0.05 ? pick(KEYS) : pick([`${type}1`, `${type}2`]));
  const key = () => pick(KEYS);
  const text = () => keyOf('text');
  const hash = () => keyOf('hash');
  const set = () => keyOf('set');
  const stream = () => keyOf('stream');
  const number = () => pick(['0', '1', '2', '3', '5', '-1', '7.5', '1e2', 'x', '', '01', ' 1']);
  const bound = () => pick(['-inf', '+inf', '(2', '(x', number(), number()]);
  const place = () => pick(['0', '1', '-1', '-2', '-9', '9', 'x']);
  const id = () => pick(['1-0', '2-0', '2-1', '3', '0-0', '5-0', '7-2', '9-0', 'x', '1-x']);
  const member = () => pick(['m', 'n', 'o', 'p', '']);
  const several = (make: () => string) => Array.from({ length: pick([1, 1, 2, 3]) }, make);
  const limit = () => pick([[], ['LIMIT', place(), place()], ['LIMIT', '0', '1']]);
  const length = () => pick([[], ['MAXLEN', pick(['0', '2', '3', '-1', 'x'])]]);
  const makers: (() => string[])[] = [
    () => ['SET', text(), pick(['value', '12', '', 'ab'])],
    () => ['SET', text(), 'value', 'PX', pick(['100000', '0', '-1', 'x'])],
    () => ['GET', text()],
    () => ['DEL', ...several(key)],
    () => ['EXISTS', ...several(key)],
    () => ['PEXPIRE', key(), pick(['100000', '0', '-5', 'x'])],
    () => [
      'SETBIT',
      key(),
      pick(['0', '7', '8', '17', '-1', 'x', '4294967296']),
      pick(['0', '1', '2']),
    ],
    () => ['BITCOUNT', text()],
    () => ['BITOP', 'OR', text(), ...several(text)],
    () => ['HSET', hash(), ...several(member), number()],
    () => ['HGET', hash(), member()],
    () => ['HDEL', hash(), ...several(member)],
    () => ['HGETALL', hash()],
    () => ['HINCRBY', hash(), member(), number()],
    () => ['ZADD', set(), ...pick([[], ['GT']]), number(), member()],
    () => ['ZADD', set(), 'GT', pick(['1', '2', '3', '4']), member(), pick(['2', 'x']), member()],
    () => ['ZSCORE', set(), member()],
    () => ['ZRANGE', set(), place(), place()],
    () => ['ZRANGE', set(), bound(), bound(), 'BYSCORE'],
    () => ['ZREVRANGEBYSCORE', set(), bound(), bound(), ...limit()],
    () => ['ZREMRANGEBYSCORE', set(), bound(), bound()],
    () => ['XADD', stream(), ...length(), id(), 'f', pick(['x', 'y'])],
    () => ['XADD', stream(), id(), 'f'],
    () => ['XLEN', stream()],
    () => ['XTRIM', stream(), 'MINID', id()],
    () => ['XRANGE', stream(), pick(['-', id()]), pick(['+', id()])],
    () => ['PTTL', key()],
  ];
  return () => pick(makers)();
}

/** Replies as text, without what depends on the moment: errors as their code, times to live as a word. */
function normalized(reply: unknown, [name]: readonly string[]): unknown {
  if (reply instanceof Error) return `error ${/^[A-Z]+/.exec(reply.message)?.[0]}`;
  return name === 'PTTL' && Number(reply) > 0 ? 'a time to live' : reply;
}

/** The reply as the client of the test reads it: text in UTF-8. */
function textOf(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(textOf);
  return typeof reply === 'string' ? Buffer.from(reply, 'latin1').toString() : reply;
}

test(
  'the model of Redis replies to each command as Redis does, also to invalid ones',
  async () => {
    const next = commandSource(seededRandom(7));
    const timers = { monotonicMs: () => 0, setTimer: () => () => {}, random: () => 0 };
    const model = createRedisModel({ nowMs: () => 0, environment: timers });
    for (let number = 0; number < COMMANDS; number += 1) {
      const words = next();
      const expected = await commands.command(...words).catch((error: Error) => error);
      let reply: unknown;
      try {
        reply = textOf(model.command(...words));
      } catch (error) {
        reply = error;
      }
      expect({ number, words, reply: normalized(reply, words) }).toEqual({
        number,
        words,
        reply: normalized(expected, words),
      });
    }
  },
  TEST_MS,
);

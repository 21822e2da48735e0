import type { Removal } from '../changed-copy.ts';

/** A defect that is put into a copy of the source; the simulation must find it. */
export interface PlantedBug {
  readonly name: string;
  /** The invariant or rule that it breaks. */
  readonly breaks: string;
  readonly changes: readonly Removal[];
}

const bug = (
  breaks: string,
  name: string,
  file: string,
  text: string,
  replacement = '',
  ...others: readonly Removal[]
): PlantedBug => ({ name, breaks, changes: [{ file, text, replacement }, ...others] });

const SEALING_SQL = 'server/realtime/feed/sealing-sql.ts';
const SEALING_LUA = 'server/storage/redis/library/sealing.lua';
const COORDINATION = 'server/realtime/coordination';
const TRANSACTION = 'server/storage/sql/postgres-transaction.ts';

/** Defects of the parts that coordinate nodes. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  bug(
    'I-1',
    'the watermark rises without a comparison',
    SEALING_SQL,
    ' where interval = $1 and interval < $2',
    ' where $1 = $1 and $2 = $2',
  ),
  bug(
    'I-2',
    'sealed events stay in the outbox',
    SEALING_SQL,
    'await deleteFromOutbox(tx, published);',
  ),
  bug(
    'I-1',
    'an interval is published that another node sealed',
    `${COORDINATION}/shared-sealer.ts`,
    "if (sealing.outcome !== 'sealed') return true;",
    "if (sealing.outcome !== 'sealed') { await follower.apply({ after, interval, bodies: [] }); return true; }",
  ),
  bug(
    'I-1',
    'a gap in the log of the coordinator is served as empty',
    `${COORDINATION}/feed-follower.ts`,
    'if (after > log.watermark()) await this.fillGap(after);',
  ),
  bug(
    'I-1',
    'an interval is served before it is sealed',
    'server/realtime/feed/feed-log-memory.ts',
    'if (interval > this.sealed) return this.readWhenSealed(streamId, interval);',
    '',
    {
      file: 'server/gateway/feed-fast-path.ts',
      text: 'interval > log.watermark()',
      replacement: 'false',
    },
  ),
  bug(
    'N-4',
    'a late sealing is never taken over',
    `${COORDINATION}/seal-reporter.ts`,
    'failover.expect(interval);',
  ),
  bug(
    'N-4',
    'a late interval is claimed and not looked up',
    `${COORDINATION}/seal-failover.ts`,
    'if (await this.findInDatabase()) return 0;',
  ),
  bug(
    'C-6',
    'a batch of posts that is repeated is accepted again',
    SEALING_LUA,
    'if batch.number <= node.batch then return 1 end',
  ),
  bug(
    'C-6',
    'batches have no label: each sealing takes all again',
    SEALING_LUA,
    "redis.call('ZADD', key.labels, interval, string.format('%d:%d', interval, last))",
  ),
  bug(
    'C-6',
    'batches outlive a loss of data of Redis',
    SEALING_LUA,
    'if batch.is_repeat and batch.data_set ~= data_set then return 2 end',
    '',
    // Without this change the node itself would name the newest batch and hide the defect.
    { file: SEALING_LUA, text: '{ batch = tonumber(args[9]) }', replacement: '{ batch = 0 }' },
  ),
  bug(
    'N-13',
    'a node that stops hands nothing over',
    `${COORDINATION}/realtime-backend-redis.ts`,
    'if (this.intervalTimer) await this.settle();',
  ),
  bug(
    'I-3',
    'an answer is acknowledged before its commit',
    TRANSACTION,
    '  await commit(session);\n  call.resolve(output);',
    '  call.resolve(output);\n  await commit(session);',
  ),
  bug(
    'I-2',
    'a write whose commit got no response is repeated',
    TRANSACTION,
    "throw new Unavailable(\n      'The database became unavailable during the commit; the change may have been saved.',\n    );",
    'throw error;',
  ),
  bug(
    'I-2',
    'an idempotency key is not kept',
    'server/storage/sql/idempotency.ts',
    'if (!(await claimKey(tx, idempotency))) return readStoredOutput(tx, idempotency);',
  ),
  bug(
    'I-3',
    'the close of a quiz does not wait for answers that are being written',
    'server/domains/quizzes/answers-sql.ts',
    '{tx.locks.share}',
    '{""}',
  ),
  bug(
    'I-3',
    'an answer counts after the close',
    'server/domains/quizzes/quiz-rules.ts',
    "quiz.state === 'open' && ",
  ),
  bug(
    'I-3',
    'a second answer of a seat is acknowledged',
    'server/domains/quizzes/answers-sql.ts',
    'inTime.filter((_, index) => isAdded[index])',
    'inTime',
  ),
  bug(
    'I-5',
    'a seat counts one interval too long',
    'server/realtime/presence/presence-ring.ts',
    'Math.ceil(REGISTRATION_MS / INTERVAL_MS) + 1;',
    'Math.ceil(REGISTRATION_MS / INTERVAL_MS) + 2;',
  ),
  bug(
    'I-5',
    'nodes do not replicate presence',
    `${COORDINATION}/seal-reporter.ts`,
    'await presence.replicate(interval);',
  ),
  bug(
    'N-8',
    'a node that lags never steps',
    `${COORDINATION}/shared-clock.ts`,
    'stepAfterMs: 2_000',
    'stepAfterMs: 2_000_000',
  ),
  bug(
    'K-6',
    'service time starts in the past of the last sealed interval',
    `${COORDINATION}/service-clock.ts`,
    'intervalStartMs(watermark + 1)',
    '0',
  ),
  bug(
    'I-7',
    'requests that wait for an interval that is late get no response',
    'server/realtime/feed/feed-log-memory.ts',
    'for (const { waiter } of waiting) waiter.onFailed(error);',
  ),
  bug(
    'I-7',
    'a viewer retries without a pause',
    'sdk/back-off.ts',
    'this.requestedMs + delayMs * (0.5 + this.#random() / 2)',
    '0',
  ),
];

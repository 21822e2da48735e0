import type { Redis, RedisValue } from '../../storage/redis/redis.ts';
import type { BatchResult } from '../feed/transient-source.ts';
import type {
  CollectedReports,
  PublicationReply,
  SealClaimReply,
  SealCoordinator,
  SealDecision,
  SealedEntry,
  SealReport,
  SealReportReply,
} from './seal-coordinator.ts';

const KEY_NAMES = ['state', 'nodes', 'parts', 'labels', 'watched', 'log'] as const;

/** A larger entry is published without its bodies: Redis serves no other client while it reads a value. */
const ENTRY_BYTES_MAX = 1024 * 1024;

// Indexed by the codes in replies of `sealing.lua`.
const DECISIONS: readonly SealDecision[] = ['early', 'wait', 'seal', 'sealed'];
const BATCH_RESULTS: readonly BatchResult[] = ['rejected', 'accepted', 'lost'];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The seal coordinator in Redis; its functions are in `redis/library/sealing.lua`. A failed call
 * throws Unavailable, but Redis may have executed it.
 */
export class RedisSealCoordinator implements SealCoordinator {
  /** Random name of Redis' data set: if it changes, Redis may have lost data. */
  private dataSet = '';
  /**
   * The data set to which the pending batch was first sent. Reports without the batch may have shown a
   * newer one since: compared with that, a repeated batch would be accepted a second time.
   */
  private batchDataSet = '';
  /** The newest batch that Redis may have accepted. Redis forgets it after a minute of silence. */
  private maybeAcceptedBatch = 0;
  private readonly keys: readonly string[];
  private readonly logKey: string;

  /**
   * @param nodeId id of this process; no other process ever uses it
   * @param serviceId id of the database, so that a new database ignores what an old one published
   */
  constructor(
    private readonly redis: Redis,
    private readonly nodeId: string,
    serviceId: string,
  ) {
    // One hash tag: all keys are on one server, and each function sees all of them.
    const keyOf = (name: string) => `fourbeat:{fourbeat}:${serviceId}:${name}`;
    this.keys = KEY_NAMES.map(keyOf);
    this.logKey = keyOf('log');
  }

  hasReported(): boolean {
    return this.dataSet !== '';
  }

  dataSetName(): string {
    return this.dataSet;
  }

  async report(report: SealReport): Promise<SealReportReply> {
    const { interval, served, canSeal, batch, activeStreams } = report;
    if (batch && !batch.isRepeat) this.batchDataSet = this.dataSet;
    const maybeAcceptedBatch = this.maybeAcceptedBatch;
    if (batch) this.maybeAcceptedBatch = batch.number;
    const [code, waitMs, result, dataSet, watermark] = (await this.call('fourbeat_report', [
      this.nodeId,
      interval,
      served,
      canSeal ? 1 : 0,
      this.batchDataSet,
      ...(batch ? [batch.number, batch.isRepeat ? 1 : 0, batch.bytes] : [0, 0, '']),
      maybeAcceptedBatch,
      ...activeStreams,
    ])) as [number, number, number, Uint8Array, number];
    const decision = decisionOf(code);
    if (decision === 'early') {
      // Redis did not look at the batch.
      this.maybeAcceptedBatch = maybeAcceptedBatch;
      return { decision, waitMs, batchResult: null, watermark };
    }
    this.dataSet = decoder.decode(dataSet);
    const batchResult = BATCH_RESULTS[result] ?? null;
    if (batch && batchResult === 'rejected') this.maybeAcceptedBatch = batch.number - 1;
    return { decision, waitMs, batchResult, watermark };
  }

  async claim(interval: number): Promise<SealClaimReply> {
    const [code, waitMs] = (await this.call('fourbeat_claim', [interval])) as [number, number];
    return { decision: decisionOf(code), waitMs };
  }

  async keepClaim(interval: number): Promise<void> {
    await this.call('fourbeat_claim', [interval, 1]);
  }

  async collect(
    after: number,
    interval: number,
    withActiveStreams: boolean,
  ): Promise<CollectedReports> {
    const values = [after, interval, withActiveStreams ? 1 : 0];
    const [served, batches, streamIds, timeline] = (await this.call(
      'fourbeat_collect',
      values,
    )) as [number, Uint8Array[], Uint8Array[], Uint8Array];
    // After a failover the promoted replica must not assign the same batches to another interval.
    await this.redis.waitForReplicas(this.logKey);
    const activeStreams = streamIds.map((streamId) => decoder.decode(streamId));
    return { batches, served, activeStreams, timeline: decoder.decode(timeline) };
  }

  async fence(timeline: string): Promise<string> {
    return decoder.decode((await this.call('fourbeat_fence', [timeline])) as Uint8Array);
  }

  async publish(entry: SealedEntry, timeline: string): Promise<PublicationReply> {
    const complete = encoder.encode(JSON.stringify(entry));
    const isLarge = complete.length > ENTRY_BYTES_MAX;
    const bytes = isLarge ? encoder.encode(JSON.stringify({ ...entry, bodies: null })) : complete;
    const values = [entry.interval, bytes, entry.after, timeline];
    const [code, published, named] = (await this.call('fourbeat_publish', values)) as [
      number,
      number,
      Uint8Array,
    ];
    return { isPublished: code === 1, published, timeline: decoder.decode(named) };
  }

  async follow(interval: number, waitMs: number): Promise<SealedEntry[]> {
    const entries = await this.redis.readLog(this.logKey, `${Math.max(0, interval)}-0`, waitMs);
    return entries.map(({ value }) => JSON.parse(decoder.decode(value)) as SealedEntry);
  }

  async leave(): Promise<void> {
    await this.call('fourbeat_leave', [this.nodeId]);
  }

  private call(name: string, values: readonly RedisValue[]): Promise<unknown> {
    return this.redis.call({ name, keys: this.keys, values });
  }
}

function decisionOf(code: number): SealDecision {
  return DECISIONS[code] ?? 'wait';
}

import type { Redis, RedisValue } from '../../storage/redis/redis.ts';
import type {
  Collected,
  HandOverFate,
  Report,
  ReportReply,
  SealCoordinator,
  SealedEntry,
  Verdict,
} from './seal-coordinator.ts';

const NAMES = ['state', 'nodes', 'parts', 'labels', 'watched', 'log'] as const;

// Redis answers nobody else while it takes in a value.
const ENTRY_BYTES_MAX = 1024 * 1024;

const VERDICTS: readonly Verdict[] = ['early', 'wait', 'seal', 'sealed'];
const FATES: readonly HandOverFate[] = ['kept', 'taken', 'lost'];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The meeting place of nodes in Redis; its functions are in `redis/library/sealing.lua`. */
export class RedisSealCoordinator implements SealCoordinator {
  /** The name of what Redis knows: another one means that it may have forgotten something. */
  private memory = '';
  private readonly keys: readonly string[];
  private readonly log: string;

  /**
   * @param nodeId of this process, never used by another
   * @param serviceId of the database: what was published for another record is not in this one
   */
  constructor(
    private readonly redis: Redis,
    private readonly nodeId: string,
    serviceId: string,
  ) {
    // One tag: what decides about sealing is on one server, and each function sees all of it.
    const keyOf = (name: string) => `fourbeat:{fourbeat}:${serviceId}:${name}`;
    this.keys = NAMES.map(keyOf);
    this.log = keyOf('log');
  }

  isKnown(): boolean {
    return this.memory !== '';
  }

  async report({ interval, served, able, handOver, watched }: Report): Promise<ReportReply> {
    const part = handOver
      ? [handOver.number, handOver.isRepeat ? 1 : 0, handOver.bytes]
      : [0, 0, ''];
    const [verdict, waitMs, fate, memory, watermark] = (await this.call('fourbeat_report', [
      this.nodeId,
      interval,
      served,
      able ? 1 : 0,
      this.memory,
      ...part,
      ...watched,
    ])) as [number, number, number, Uint8Array, number];
    if (verdict !== 0) this.memory = decoder.decode(memory);
    const looked = verdict === 0 ? null : (FATES[fate] ?? null);
    return { verdict: verdictOf(verdict), waitMs, handOver: looked, watermark };
  }

  async claim(interval: number): Promise<{ verdict: Verdict; waitMs: number }> {
    const [verdict, waitMs] = (await this.call('fourbeat_claim', [interval])) as [number, number];
    return { verdict: verdictOf(verdict), waitMs };
  }

  async collect(after: number, interval: number, withWatched: boolean): Promise<Collected> {
    const values = [after, interval, withWatched ? 1 : 0];
    const [, parts, watched] = (await this.call('fourbeat_collect', values)) as [
      number,
      Uint8Array[],
      Uint8Array[],
    ];
    // What was collected must not come again to a sealer who asks the replica that was promoted.
    await this.redis.replicated(this.log);
    return { parts, watched: watched.map((streamId) => decoder.decode(streamId)) };
  }

  async publish(entry: SealedEntry): Promise<void> {
    const all = encoder.encode(JSON.stringify(entry));
    const isMuch = all.length > ENTRY_BYTES_MAX;
    const bytes = isMuch ? encoder.encode(JSON.stringify({ ...entry, bodies: null })) : all;
    await this.call('fourbeat_publish', [entry.interval, bytes]);
  }

  async follow(interval: number, waitMs: number): Promise<SealedEntry[]> {
    const entries = await this.redis.readLog(this.log, `${Math.max(0, interval)}-0`, waitMs);
    return entries.map(({ value }) => JSON.parse(decoder.decode(value)) as SealedEntry);
  }

  async leave(): Promise<void> {
    await this.call('fourbeat_leave', [this.nodeId]);
  }

  private call(name: string, values: readonly RedisValue[]): Promise<unknown> {
    return this.redis.call({ name, keys: this.keys, values });
  }
}

function verdictOf(code: number): Verdict {
  return VERDICTS[code] ?? 'wait';
}

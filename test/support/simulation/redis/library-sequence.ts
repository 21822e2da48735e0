import type { RedisValue } from '../../../../server/storage/redis/redis.ts';

/** A step of a random sequence over all functions of the library. */
export type LibraryStep =
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly keys: string[];
      readonly values: Value[];
    }
  /** Passes time: TIME and the expiration of keys. */
  | { readonly kind: 'pass'; readonly ms: number }
  /** Steps the clock of the server; keys keep their time to live. */
  | { readonly kind: 'step'; readonly ms: number }
  /** Damages data as a loss does: a key, a field, or everything. */
  | { readonly kind: 'command'; readonly words: string[] };

/** A value, or the name of the data set in the last reply to a report. */
export type Value = RedisValue | typeof DATA_SET;
const TIMELINES = ['7:1', '7:2', '7:10', '8:1'];
export const DATA_SET = Symbol('the last data set');

const SEALING_NAMES = ['state', 'nodes', 'parts', 'labels', 'watched', 'log'];
export const SEALING_KEYS = SEALING_NAMES.map((name) => `{f}:${name}`);
export const CLOCK_KEY = '{f}:clock';
export const BLOCKS_KEY = '{f}:present';
const TURN_KEYS = ['{t}:1', '{t}:2'];
const SCRATCH_KEY = '{b}:scratch';
/** Bitsets of some intervals. */
export const BITSET_KEYS = Array.from({ length: 6 }, (_, index) => `{b}:${index}`);
const STATE_FIELDS = [
  'memory',
  'watermark',
  'served',
  'published',
  'parts',
  'parts',
  'claim_interval',
];
const NODES = ['a', 'b', 'c'];
const TURN_TTL_MS = 300_000;
const INTERVAL_MS = 250;

/** Creates random sequences. The same source of random numbers gives the same sequence. */
export class LibrarySequence {
  private batch = 0;

  /** @param random numbers in [0, 1) @param nowMs the clock of the server */
  constructor(
    private readonly random: () => number,
    private readonly nowMs: () => number,
  ) {}

  next(): LibraryStep {
    const roll = this.random();
    if (roll < 0.06)
      return { kind: 'pass', ms: this.pick([1, 40, 101, 249, 2_100, 5_200, 61_000]) };
    if (roll < 0.08) return { kind: 'step', ms: this.pick([-90_000, -3_000, -120, 130, 70_000]) };
    if (roll < 0.12) return { kind: 'command', words: this.damage() };
    if (roll < 0.32) return this.report();
    if (roll < 0.6) return this.sealing();
    if (roll < 0.7) return this.serviceTime();
    return this.presence();
  }

  private report(): LibraryStep {
    const isNew = this.random() < 0.7;
    if (isNew) this.batch += 1;
    const hasBatch = this.random() < 0.7;
    const batch = hasBatch ? [this.batch, isNew ? 0 : 1, this.bytes(20)] : [0, 0, ''];
    const accepted = this.pick([0, isNew ? this.batch - 1 : this.batch]);
    const streams = Array.from({ length: this.below(4) }, () => `stream ${this.below(5)}`);
    const values: Value[] = [
      this.pick(NODES),
      this.interval(),
      this.interval() - this.below(4),
      this.pick([1, 1, 1, 0]),
      this.pick<Value>([DATA_SET, DATA_SET, '', 'another']),
    ];
    return call('fourbeat_report', SEALING_KEYS, [...values, ...batch, accepted, ...streams]);
  }

  private sealing(): LibraryStep {
    const interval = this.interval();
    switch (this.below(5)) {
      case 0:
        return call('fourbeat_claim', SEALING_KEYS, [interval]);
      case 1:
        return call('fourbeat_leave', SEALING_KEYS, [this.pick(NODES)]);
      case 2: {
        const after = interval - 1 - this.below(3);
        return call('fourbeat_collect', SEALING_KEYS, [after, interval, this.pick([1, 0])]);
      }
      case 3:
        return call('fourbeat_fence', SEALING_KEYS, [this.pick(['', ...TIMELINES])]);
      default: {
        const bytes = this.random() < 0.03 ? new Uint8Array(20_000_000) : this.bytes(30);
        const after = interval - 1 - this.below(3);
        const timeline = this.pick(['', ...TIMELINES]);
        return call('fourbeat_publish', SEALING_KEYS, [interval, bytes, after, timeline]);
      }
    }
  }

  private serviceTime(): LibraryStep {
    if (this.random() < 0.5) {
      const values = [this.nowMs() + this.below(3_000) / 7, this.pick([1, 1_000, 999.5])];
      return call('fourbeat_turn', [this.pick(TURN_KEYS)], [...values, TURN_TTL_MS]);
    }
    const leadMs = this.pick([-900, -0.5, 0, 0.5, 77.123456, 1_500]);
    const serviceMs = this.random() < 0.3 ? '' : this.nowMs() + leadMs;
    return call('fourbeat_lead', [CLOCK_KEY], [this.pick(NODES), serviceMs]);
  }

  private presence(): LibraryStep {
    const keys = BITSET_KEYS.filter(() => this.random() < 0.4);
    const bitsets = keys.length > 0 ? keys : [BITSET_KEYS[0] as string];
    const interval = this.interval();
    switch (this.below(8)) {
      case 0:
      case 1:
      case 2: {
        const additional = this.random() < 0.5 ? [this.pick(BITSET_KEYS)] : [];
        const values = bitsets.flatMap(() => this.seats());
        return call('fourbeat_hand_in', [SCRATCH_KEY, ...bitsets, ...additional], values);
      }
      case 3: {
        const offsets = Array.from({ length: this.below(4) }, () => this.below(200));
        return call('fourbeat_expel', [SCRATCH_KEY, ...bitsets], offsets);
      }
      case 4:
        return call('fourbeat_count', [SCRATCH_KEY, ...bitsets], []);
      case 5:
        return call('fourbeat_unite', [SCRATCH_KEY, ...bitsets], []);
      case 6: {
        const blocks = Array.from({ length: this.below(4) }, () => [
          interval - this.below(14),
          `stream ${this.below(2)}:${this.below(17)}`,
        ]);
        return call('fourbeat_announce', [BLOCKS_KEY], [interval, ...blocks.flat()]);
      }
      default:
        return this.random() < 0.5
          ? call('fourbeat_announced', [BLOCKS_KEY], [interval - this.below(14)])
          : call('fourbeat_further_blocks', [BLOCKS_KEY], [`stream ${this.below(2)}`]);
    }
  }

  private seats(): Value[] {
    if (this.random() < 0.5) return ['bits', this.bytes(12)];
    const offsets = Array.from({ length: this.below(5) }, () => this.below(200));
    return ['list', offsets.join(' ')];
  }

  private damage(): string[] {
    const roll = this.random();
    if (roll < 0.15) return ['FLUSHALL'];
    if (roll < 0.55) return ['HDEL', '{f}:state', this.pick(STATE_FIELDS)];
    return ['DEL', this.pick([...SEALING_KEYS, CLOCK_KEY, BLOCKS_KEY, ...BITSET_KEYS])];
  }

  /** An interval that ended shortly before, that is under way, or that comes. */
  private interval(): number {
    return Math.floor(this.nowMs() / INTERVAL_MS) - 4 + this.below(6);
  }

  private bytes(lengthMax: number): Uint8Array {
    return Uint8Array.from({ length: this.below(lengthMax) }, () => this.below(256));
  }

  private below(end: number): number {
    return Math.floor(this.random() * end);
  }

  private pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

function call(name: string, keys: readonly string[], values: Value[]): LibraryStep {
  return { kind: 'call', name, keys: [...keys], values };
}

import { commandTable, DATA_COMMANDS } from './commands/commands.ts';
import { Database } from './database.ts';

/** Where effects of a function go: a sum of these (`redis.set_repl`). */
export const REPLICATION = { none: 0, appendOnlyFile: 1, replica: 2, all: 3 } as const;

interface Effect {
  readonly atMs: number;
  readonly words: readonly string[];
}

const find = commandTable(DATA_COMMANDS);
/** Effects that may wait before those that are old enough are executed. */
const WAITING_MAX = 1_024;

/** A copy of the data that executes the effects of commands some time later: a replica, or the file. */
export class Follower {
  readonly database = new Database();
  private waiting: Effect[] = [];

  /**
   * @param mask the part of `REPLICATION` that goes to this copy
   * @param lagMs how long effects wait
   */
  constructor(
    private readonly mask: number,
    public lagMs: number,
  ) {}

  /** @param nowMs of a clock that does not step */
  add(mask: number, words: readonly string[], nowMs: number): void {
    if ((mask & this.mask) === 0) return;
    this.waiting.push({ atMs: nowMs, words });
    if (this.waiting.length > WAITING_MAX) this.executeUntil(nowMs - this.lagMs);
  }

  /** Executes the effects up to a time. The later ones are lost if the copy is used then. */
  executeUntil(endMs: number): void {
    const index = this.waiting.findIndex(({ atMs }) => atMs > endMs);
    const ready = index === -1 ? this.waiting : this.waiting.slice(0, index);
    this.waiting = index === -1 ? [] : this.waiting.slice(index);
    for (const { words } of ready) find(words[0] ?? '')?.run(this.database, words.slice(1));
  }
}

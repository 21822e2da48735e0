import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { detailProcedures, StreamDetailRow } from './detail-sql.ts';

export interface StreamDetailsOptions {
  readonly store: Pick<Calls<typeof detailProcedures>, 'readStreamDetail'>;
  readonly clock: Clock;
  /** How many writes this process has made that may change what is told. */
  readonly writes: () => number;
  /** So many streams are kept at most (default 10,000). */
  readonly streamsMax?: number;
}

/** A read, under way or done. */
interface Read {
  readonly row: Promise<StreamDetailRow | null>;
  /** The number of writes when it began. */
  readonly writes: number;
}

/** About 10 MB, for a quarter of a second. */
const STREAMS_MAX = 10_000;

/**
 * What viewers are told of streams: read once for all who ask in an interval, since every viewer asks
 * again and again. A write of this process is in whatever is told after it.
 */
export class StreamDetails {
  private readonly reads = new Map<string, Read>();
  private interval = 0;

  constructor(private readonly options: StreamDetailsOptions) {}

  /** The stream, not older than the current interval; null when there is none. @throws Unavailable */
  read(id: string): Promise<StreamDetailRow | null> {
    const { clock, writes, streamsMax = STREAMS_MAX } = this.options;
    const interval = intervalAt(clock.nowMs());
    if (interval !== this.interval) this.reads.clear();
    this.interval = interval;
    const kept = this.reads.get(id);
    if (kept?.writes === writes()) return kept.row;
    const read = { row: this.readAnew(id), writes: writes() };
    if (kept || this.reads.size < streamsMax) this.keep(id, read);
    return read.row;
  }

  /** The stream as it is now, whichever node changed it; null when there is none. @throws Unavailable */
  readAnew(id: string): Promise<StreamDetailRow | null> {
    const { clock, store } = this.options;
    return store.readStreamDetail({ id, interval: intervalAt(clock.nowMs()) });
  }

  // What is not there may be any moment, made by another node; and a failure is nobody else's.
  private keep(id: string, read: Read): void {
    const forget = () => {
      if (this.reads.get(id) === read) this.reads.delete(id);
    };
    this.reads.set(id, read);
    read.row.then((row) => {
      if (!row) forget();
    }, forget);
  }
}

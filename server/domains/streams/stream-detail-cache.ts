import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { detailProcedures, StreamDetailRow } from './stream-detail-sql.ts';

export interface StreamDetailCacheOptions {
  readonly store: Pick<Calls<typeof detailProcedures>, 'readStreamDetail'>;
  readonly clock: Clock;
  /** The number of writes of this process that may have changed a detail. */
  readonly writes: () => number;
  /** Most cached streams (default 10,000). */
  readonly streamsMax?: number;
}

/** A pending or finished read. */
interface Read {
  readonly row: Promise<StreamDetailRow | null>;
  /** The number of writes when the read began. */
  readonly writes: number;
}

/** About 10 MB, held for one interval. */
const STREAMS_MAX = 10_000;

/**
 * Caches stream details for one interval, because every viewer polls them. A read after a write of this
 * process includes that write.
 */
export class StreamDetailCache {
  private readonly reads = new Map<string, Read>();
  private interval = 0;

  constructor(private readonly options: StreamDetailCacheOptions) {}

  /** The detail as of the current interval; null when there is no such stream. @throws Unavailable */
  read(id: string): Promise<StreamDetailRow | null> {
    const { clock, store, writes, streamsMax = STREAMS_MAX } = this.options;
    const interval = intervalAt(clock.nowMs());
    if (interval !== this.interval) this.reads.clear();
    this.interval = interval;
    const cached = this.reads.get(id);
    if (cached?.writes === writes()) return cached.row;
    const read = { row: store.readStreamDetail({ id, interval }), writes: writes() };
    if (cached || this.reads.size < streamsMax) this.store(id, read);
    return read.row;
  }

  // Missing streams and errors are not cached: another node may create the stream at any moment.
  private store(id: string, read: Read): void {
    const remove = () => {
      if (this.reads.get(id) === read) this.reads.delete(id);
    };
    this.reads.set(id, read);
    read.row.then((row) => {
      if (!row) remove();
    }, remove);
  }
}

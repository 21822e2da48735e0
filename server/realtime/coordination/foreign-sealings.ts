/** Sealings of other data sets within `WINDOW_MS` from which on another Redis is in use. */
const FOREIGN_MAX = 8;
const WINDOW_MS = 60_000;

export interface ForeignSealingsOptions {
  /** The name of the data set of this node's Redis. */
  readonly dataSetName: () => string;
  readonly nowMs: () => number;
  readonly logger: { error(fields: object, message: string): void };
}

/**
 * Notices that nodes of this database use different Redis servers: then each group counts its own
 * viewers, and the posts of the group that does not seal are lost. The only sign is the conflict of a
 * sealing: another node sealed the interval first, with another data set. A failover of Redis causes one
 * or two such conflicts; then all nodes have the new data set.
 */
export class ForeignSealings {
  private readonly atMs: number[] = [];
  private isLogged = false;

  constructor(private readonly options: ForeignSealingsOptions) {}

  /** Records that another node sealed an interval first. @param dataSet of that node's Redis */
  note(dataSet: string | undefined): void {
    const { dataSetName, nowMs, logger } = this.options;
    if (this.isLogged || dataSet === undefined || dataSet === dataSetName()) return;
    this.atMs.push(nowMs());
    if (this.atMs.length < FOREIGN_MAX) return;
    const firstMs = this.atMs.shift() as number;
    if (nowMs() - firstMs > WINDOW_MS) return;
    this.isLogged = true;
    logger.error(
      {},
      'other nodes of this database use another Redis: viewers are not counted and posts are lost; ' +
        'give all nodes the same --redis, and restart those that followed a name to another server',
    );
  }
}

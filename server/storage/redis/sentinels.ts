import { Unavailable } from '../../platform/errors.ts';
import type { HostPort } from '../../platform/redis-url.ts';
import { runtime } from '../../platform/runtime.ts';
import { queryServer, type ServerAccess } from './connection.ts';
import { configurationErrorOf } from './reconnecting-connection.ts';

export interface SentinelsOptions extends ServerAccess {
  readonly addresses: readonly HostPort[];
  readonly primaryName: string;
}

export interface PrimaryView {
  readonly address: HostPort;
  /** Increases with every failover: the larger epoch is the newer view. */
  readonly epoch: number;
}

/** What Sentinels replied. */
interface NewestView extends PrimaryView {
  /** Whether more than half of all Sentinels replied. */
  readonly isOfMajority: boolean;
}

const WATCH_MS = 1_000;
/** Much longer than Sentinels need to inform each other of a failover, 2 s. */
const OLDER_EPOCH_MAX_MS = 30_000;

/** The Sentinels of a primary: they report which server it is. */
export class Sentinels {
  private latest: PrimaryView | null = null;
  /** When the first of the last views with an older epoch came; null: the last check brought no such view. */
  private olderSinceMs: number | null = null;
  private timer: Timer | null = null;

  constructor(private readonly options: SentinelsOptions) {}

  /**
   * The primary by the newest view, once more than half of the Sentinels, or all that can, have replied.
   * @throws Unavailable when none replies
   * @throws RedisConfigurationError when none knows a primary of this name
   */
  async primary(): Promise<HostPort> {
    const view = await this.newestView().catch((error) => {
      // Views from before and after a failure are no 30 s of agreement.
      this.olderSinceMs = null;
      throw error;
    });
    if (this.latest === null || view.epoch >= this.latest.epoch || this.wereSetUpAnew(view)) {
      this.latest = view;
      this.olderSinceMs = null;
    }
    return this.latest.address;
  }

  /**
   * Whether the epoch of this view is older because the Sentinels were set up anew. A few Sentinels with an older
   * epoch were stalled, or are cut off from the others.
   */
  private wereSetUpAnew({ isOfMajority }: NewestView): boolean {
    const nowMs = runtime.monotonicMs();
    this.olderSinceMs = isOfMajority ? (this.olderSinceMs ?? nowMs) : null;
    return this.olderSinceMs !== null && nowMs - this.olderSinceMs >= OLDER_EPOCH_MAX_MS;
  }

  /**
   * Checks once a second whether another server became the primary: the old one may be cut off from the
   * Sentinels and still respond to this node.
   */
  watch(onMoved: (to: HostPort) => void): void {
    this.timer = runtime.setInterval(() => {
      const before = this.latest;
      const check = this.primary().then((now) => {
        if (before && (before.address.host !== now.host || before.address.port !== now.port)) {
          onMoved(now);
        }
      });
      // An open connection does not need the Sentinels.
      check.catch(() => {});
    }, WATCH_MS);
  }

  close(): void {
    if (this.timer) runtime.clearTimer(this.timer);
  }

  private newestView(): Promise<NewestView> {
    const { addresses } = this.options;
    const views: PrimaryView[] = [];
    const errors: Error[] = [];
    return new Promise((resolve, reject) => {
      const decide = () => {
        const haveAllReplied = views.length + errors.length === addresses.length;
        const isOfMajority = views.length > addresses.length / 2;
        if (!isOfMajority && !haveAllReplied) return;
        const [newest] = views.toSorted((a, b) => b.epoch - a.epoch);
        if (newest) resolve({ ...newest, isOfMajority });
        else reject(unavailableError(errors));
      };
      for (const address of addresses) {
        this.queryView(address)
          .then(
            (view) => views.push(view),
            (error: Error) => errors.push(error),
          )
          .then(decide);
      }
    });
  }

  private queryView(address: HostPort): Promise<PrimaryView> {
    const words = ['SENTINEL', 'MASTER', this.options.primaryName];
    return queryServer(this.options, address, async (connection) =>
      parsePrimaryView(await connection.send(words)),
    );
  }
}

/** Parses the reply to `SENTINEL MASTER`: alternating names and values. */
export function parsePrimaryView(reply: unknown): PrimaryView {
  const words = (reply as unknown[]).map(String);
  const field = (name: string) => words[words.findIndex((w, i) => i % 2 === 0 && w === name) + 1];
  return {
    address: { host: field('ip') ?? '', port: Number(field('port')) },
    epoch: Number(field('config-epoch')),
  };
}

/** A configuration error only if all Sentinels agree: one that does not reply may know the primary. */
function unavailableError(errors: readonly Error[]): Error {
  const configurationErrors = errors.map(configurationErrorOf);
  const [first] = configurationErrors;
  if (first && configurationErrors.every((error) => error !== null)) return first;
  return new Unavailable(`no Sentinel responds: ${errors[0]?.message}`);
}

import type { RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import type { HostPort } from '../../platform/redis-url.ts';
import { Connection } from './connection.ts';
import { wrongOf } from './link.ts';

export interface SentinelsOptions {
  readonly addresses: readonly HostPort[];
  /** What they call the primary. */
  readonly primaryName: string;
  readonly connectTo: (address: HostPort) => RedisOptions;
  readonly greet: (connection: Connection) => Promise<void>;
}

/** What a Sentinel says of the primary. */
export interface PrimaryView {
  readonly address: HostPort;
  /** Grows with every failover: of two views, the later has the larger. */
  readonly epoch: number;
}

const LOOK_MS = 1_000;

/** The Sentinels that watch a primary, who know which server that is. */
export class Sentinels {
  private known: PrimaryView | null = null;
  private timer: Timer | null = null;

  constructor(private readonly options: SentinelsOptions) {}

  /**
   * The primary, as the newest view of more than half of them says, or of those that answer.
   * @throws Unavailable when none answers @throws WrongRedis when none knows of such a primary
   */
  async primary(): Promise<HostPort> {
    const view = await this.newestView();
    if (this.known === null || view.epoch >= this.known.epoch) this.known = view;
    // One that knows less than was known before has slept, or is cut from the others.
    return this.known.address;
  }

  /**
   * Looks once a second whether another server became the primary: the old one may be cut from the
   * Sentinels and the others, and still answer us.
   */
  watch(onMoved: (to: HostPort) => void): void {
    this.timer = setInterval(() => {
      const before = this.known;
      const look = this.primary().then((now) => {
        if (before && (before.address.host !== now.host || before.address.port !== now.port)) {
          onMoved(now);
        }
      });
      // What is connected needs no Sentinel.
      look.catch(() => {});
    }, LOOK_MS);
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
  }

  private newestView(): Promise<PrimaryView> {
    const { addresses } = this.options;
    const views: PrimaryView[] = [];
    const errors: Error[] = [];
    return new Promise((resolve, reject) => {
      const judge = () => {
        const isOver = views.length + errors.length === addresses.length;
        if (views.length <= addresses.length / 2 && !isOver) return;
        const [newest] = views.toSorted((a, b) => b.epoch - a.epoch);
        if (newest) resolve(newest);
        else reject(reasonOf(errors));
      };
      for (const address of addresses) {
        this.viewOf(address).then(
          (view) => {
            views.push(view);
            judge();
          },
          (error: Error) => {
            errors.push(error);
            judge();
          },
        );
      }
    });
  }

  private async viewOf(address: HostPort): Promise<PrimaryView> {
    const connection = new Connection(this.options.connectTo(address), () => {});
    try {
      await connection.open();
      await this.options.greet(connection);
      return primaryView(await connection.send(['SENTINEL', 'MASTER', this.options.primaryName]));
    } finally {
      connection.close('asked');
    }
  }
}

/** Reads the answer to `SENTINEL MASTER`: names and values in turn. */
export function primaryView(reply: unknown): PrimaryView {
  const words = (reply as unknown[]).map(String);
  const field = (name: string) => words[words.findIndex((w, i) => i % 2 === 0 && w === name) + 1];
  return {
    address: { host: field('ip') ?? '', port: Number(field('port')) },
    epoch: Number(field('config-epoch')),
  };
}

/** One that does not answer may be the one that knows better. */
function reasonOf(errors: readonly Error[]): Error {
  const wrongs = errors.map(wrongOf);
  const [wrong] = wrongs;
  if (wrong && wrongs.every((one) => one !== null)) return wrong;
  return new Unavailable(`no Sentinel answers: ${errors[0]?.message}`);
}

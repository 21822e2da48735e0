import type { Reply } from './commands/command.ts';
import { parseInteger } from './commands/command.ts';
import { RedisError, syntaxError } from './redis-error.ts';
import { parseStreamId, type StreamId } from './stream.ts';

/** What a connection needs of the server. */
export interface ConnectedServer {
  readonly isPaused: boolean;
  /** @throws RedisError */
  execute(words: string[]): Reply;
  entriesAfter(key: string, id: StreamId, countMax: number): Reply[];
  replicationLagMs(): number;
}

export interface ServerTimers {
  monotonicMs(): number;
  setTimer(run: () => void, ms: number): () => void;
}

interface Request {
  readonly words: string[];
  readonly respond: (reply: Reply | RedisError) => void;
}

/** A command that waits: XREAD for a new entry, or WAIT for replicas. */
interface BlockedCommand {
  /** The stream that it reads; null for WAIT. */
  readonly key: string | null;
  readonly wakeUp: () => void;
  readonly cancelTimer: () => void;
}

/** A connection at the server. It executes its commands in order; a command that waits delays the next. */
export class ServerConnection {
  private readonly requests: Request[] = [];
  private blocked: BlockedCommand | null = null;
  /** What a timer would have done while the server was paused. */
  private overdue: (() => void) | null = null;
  private lastCommandMs = Number.NEGATIVE_INFINITY;
  private closed = false;
  private ended = false;

  constructor(
    private readonly server: ConnectedServer,
    private readonly timers: ServerTimers,
    private readonly onEnd: () => void,
  ) {}

  /** A command arrives. It is ignored when the connection has ended. */
  receive(words: string[], respond: Request['respond']): void {
    if (this.ended) return;
    this.requests.push({ words, respond });
    this.executeWaiting();
  }

  /** Streams have new entries. */
  wakeUp(keys: ReadonlySet<string>): void {
    const { blocked } = this;
    if (blocked?.key !== null && blocked && keys.has(blocked.key)) blocked.wakeUp();
  }

  /** The server continues after a pause. */
  resume(): void {
    const { overdue } = this;
    this.overdue = null;
    overdue?.();
    this.executeWaiting();
    if (this.closed) this.end();
  }

  /** The client closes it. A paused server executes what it received before, and notices afterwards. */
  close(): void {
    if (this.server.isPaused) this.closed = true;
    else this.end();
  }

  /** The server ends it. Commands that wait are dropped. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.blocked?.cancelTimer();
    this.blocked = null;
    this.requests.length = 0;
    this.onEnd();
  }

  private executeWaiting(): void {
    while (!this.server.isPaused && this.blocked === null && !this.ended) {
      const request = this.requests.shift();
      if (!request) return;
      try {
        this.execute(request);
      } catch (error) {
        if (!(error instanceof RedisError)) throw error;
        request.respond(error);
      }
    }
  }

  private execute({ words, respond }: Request): void {
    const name = words[0]?.toUpperCase();
    if (name === 'XREAD') this.readStream(words, respond);
    else if (name === 'WAIT') this.waitForReplicas(words, respond);
    else {
      this.lastCommandMs = this.timers.monotonicMs();
      respond(this.server.execute(words));
    }
  }

  /** `XREAD COUNT count BLOCK ms STREAMS key id`. */
  private readStream(words: readonly string[], respond: Request['respond']): void {
    const [, count, countText, block, ms, streams, key = '', idText = '', ...others] = words;
    const options = [count, block, streams].join(' ');
    if (options !== 'COUNT BLOCK STREAMS' || others.length > 0) throw syntaxError();
    const id = parseStreamId(idText);
    const countMax = parseInteger(countText);
    const blockMs = parseInteger(ms);
    const respondIfAny = (): boolean => {
      const entries = this.server.entriesAfter(key, id, countMax);
      if (entries.length > 0) respond([[key, entries]]);
      return entries.length > 0;
    };
    if (respondIfAny()) return;
    this.block(key, blockMs, respondIfAny, () => respond(null));
  }

  /** `WAIT replicas timeout`: the replica confirms after its lag. */
  private waitForReplicas(
    [, wanted, timeout]: readonly string[],
    respond: Request['respond'],
  ): void {
    const timeoutMs = parseInteger(timeout);
    const lagMs = this.server.replicationLagMs();
    const remainingMs = this.lastCommandMs + lagMs - this.timers.monotonicMs();
    const confirmed = () => (remainingMs <= timeoutMs || remainingMs <= 0 ? 1 : 0);
    const isEnough = parseInteger(wanted) <= confirmed();
    const waitMs = isEnough ? Math.max(0, remainingMs) : timeoutMs;
    if (parseInteger(wanted) === 0 || (isEnough && waitMs === 0)) respond(confirmed());
    else
      this.block(
        null,
        waitMs,
        () => false,
        () => respond(confirmed()),
      );
  }

  /** @param wakeUp responds if it can, and returns whether it did */
  private block(
    key: string | null,
    ms: number,
    wakeUp: () => boolean,
    onTimeout: () => void,
  ): void {
    const unblock = () => {
      this.blocked?.cancelTimer();
      this.blocked = null;
      this.executeWaiting();
    };
    const end = () => {
      if (this.blocked === null) return;
      onTimeout();
      unblock();
    };
    const cancelTimer = this.timers.setTimer(() => {
      if (this.server.isPaused) this.overdue = end;
      else end();
    }, ms);
    const wakeUpOnce = () => {
      if (wakeUp()) unblock();
    };
    this.blocked = { key, wakeUp: wakeUpOnce, cancelTimer };
  }
}

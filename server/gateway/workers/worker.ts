import { Unavailable } from '../../platform/errors.ts';
import type { Begin, FromThread, ReadInput, Report, ThreadCalls, ToThread } from './messages.ts';

export interface ThreadOptions {
  readonly calls: ThreadCalls;
  readonly onReport: (report: Report) => void;
  /** Told what must not happen. */
  readonly onDefect: (reason: string) => void;
  /** Told when it is gone without having been ended. */
  readonly onLost: (reason: string) => void;
}

/** One thread that answers viewers, as the main thread sees it. */
export class Thread {
  /** As of its last report. */
  held = 0;
  listeners = 0;
  private readonly worker = new Worker(new URL('./worker-channel.ts', import.meta.url));
  private readonly listening = Promise.withResolvers<void>();
  private readonly drained = Promise.withResolvers<void>();
  private readonly closed = Promise.withResolvers<void>();
  private readonly telling = new Map<number, () => void>();
  private nextId = 0;
  private isEnded = false;

  constructor(private readonly options: ThreadOptions) {
    this.worker.onmessage = ({ data }: MessageEvent<FromThread>) => this.hear(data);
    this.worker.onerror = ({ message }) => this.lose(message);
    this.worker.addEventListener('close', () => this.lose('it ended'));
  }

  tell(message: ToThread): void {
    if (!this.isEnded) this.worker.postMessage(message);
  }

  /** Resolves when it listens. @throws Error when it cannot */
  begin(told: Begin): Promise<void> {
    this.tell(told);
    return this.listening.promise;
  }

  /** Resolves when it lets none of these in any more. */
  ban(streamId: string, seats: ReadonlySet<number>): Promise<void> {
    if (this.isEnded) return Promise.resolve();
    const id = this.nextId++;
    return new Promise((resolve) => {
      this.telling.set(id, resolve);
      this.tell({ kind: 'bans', id, streamId, seats });
    });
  }

  drain(): Promise<void> {
    this.tell({ kind: 'drain' });
    return this.drained.promise;
  }

  close(): Promise<void> {
    this.tell({ kind: 'close' });
    return this.closed.promise;
  }

  end(): void {
    this.isEnded = true;
    this.worker.terminate();
  }

  private hear(said: FromThread): void {
    const { kind } = said;
    if (kind === 'ping') this.tell({ kind: 'pong', monotonicMs: performance.now() });
    else if (kind === 'listening') this.listening.resolve();
    else if (kind === 'failed') this.listening.reject(new Error(said.reason));
    else if (kind === 'call') void this.answer(said.id, said.name, said.input);
    else if (kind === 'drained') this.drained.resolve();
    else if (kind === 'closed') this.closed.resolve();
    else if (kind === 'told') {
      this.telling.get(said.id)?.();
      this.telling.delete(said.id);
    } else if (kind === 'report') {
      this.held = said.held;
      this.listeners = said.listeners;
      this.options.onReport(said);
    } else this.options.onDefect(said.reason);
  }

  private async answer(id: number, name: keyof ThreadCalls, input: unknown): Promise<void> {
    const { calls } = this.options;
    try {
      const value =
        name === 'check'
          ? await calls.check(input as string)
          : await calls.readSealed(input as ReadInput);
      this.tell({ kind: 'answer', id, value });
    } catch (error) {
      // A request that meets a defect is passed on, and whoever answers it meets that again.
      const reason = error instanceof Unavailable ? error.message : null;
      this.tell({ kind: 'refusal', id, reason });
    }
  }

  private lose(reason: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const told = `a thread that answers viewers is gone: ${reason}`;
    this.listening.reject(new Error(told));
    this.options.onLost(told);
  }
}

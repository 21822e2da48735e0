import type { BanChanges } from '../../auth/viewer-tokens/checked-viewers.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { PageRead } from '../../realtime/feed/stored-intervals.ts';
import type {
  MainThreadCalls,
  MessageFromWorker,
  MessageToWorker,
  WorkerReport,
  WorkerStart,
} from './messages.ts';

export interface WorkerHandleOptions {
  readonly calls: MainThreadCalls;
  readonly onReport: (report: WorkerReport) => void;
  readonly onDefect: (reason: string) => void;
  /** Called when the worker exits without a call of `end`. */
  readonly onFailed: (reason: string) => void;
}

/** The main thread's side of one worker thread. */
export class WorkerHandle {
  /** Counts of the worker's last report. */
  longPolls = 0;
  eventStreams = 0;
  private readonly worker = new Worker(new URL('./worker-main.ts', import.meta.url));
  private readonly listening = Promise.withResolvers<void>();
  private readonly drained = Promise.withResolvers<void>();
  private readonly closed = Promise.withResolvers<void>();
  private readonly pendingBans = new Map<number, () => void>();
  private nextId = 0;
  private isEnded = false;

  constructor(private readonly options: WorkerHandleOptions) {
    this.worker.onmessage = ({ data }: MessageEvent<MessageFromWorker>) => this.receive(data);
    this.worker.onerror = ({ message }) => this.onExit(message);
    this.worker.addEventListener('close', () => this.onExit('it ended'));
  }

  send(message: MessageToWorker): void {
    if (!this.isEnded) this.worker.postMessage(message);
  }

  /** Resolves when the worker listens. @throws Error when it cannot */
  start(message: WorkerStart): Promise<void> {
    this.send(message);
    return this.listening.promise;
  }

  /** Changes the bans of a stream. Resolves when the changes are in effect. */
  changeBans(streamId: string, changes: BanChanges): Promise<void> {
    if (this.isEnded) return Promise.resolve();
    const id = this.nextId++;
    return new Promise((resolve) => {
      this.pendingBans.set(id, resolve);
      this.send({ kind: 'bans', id, streamId, changes });
    });
  }

  /** Ends long polls and event streams, and resolves when all are ended. */
  drain(): Promise<void> {
    this.send({ kind: 'drain' });
    return this.drained.promise;
  }

  /** Stops listening, and resolves when all responses are complete. */
  close(): Promise<void> {
    this.send({ kind: 'close' });
    return this.closed.promise;
  }

  /** Ends the thread at once. */
  end(): void {
    this.isEnded = true;
    this.worker.terminate();
  }

  private receive(message: MessageFromWorker): void {
    const { kind } = message;
    if (kind === 'ping') this.send({ kind: 'pong', monotonicMs: runtime.monotonicMs() });
    else if (kind === 'listening') this.listening.resolve();
    else if (kind === 'start-failed') this.listening.reject(new Error(message.reason));
    else if (kind === 'call') void this.serveCall(message.id, message.name, message.input);
    else if (kind === 'drained') this.drained.resolve();
    else if (kind === 'closed') this.closed.resolve();
    else if (kind === 'banned') {
      this.pendingBans.get(message.id)?.();
      this.pendingBans.delete(message.id);
    } else if (kind === 'report') {
      this.longPolls = message.longPolls;
      this.eventStreams = message.eventStreams;
      this.options.onReport(message);
    } else this.options.onDefect(message.reason);
  }

  private async serveCall(id: number, name: keyof MainThreadCalls, input: unknown): Promise<void> {
    const { calls } = this.options;
    try {
      const value =
        name === 'verify'
          ? await calls.verify(input as string)
          : await calls.readSealed(input as PageRead);
      this.send({ kind: 'call-result', id, value });
    } catch (error) {
      // A defect is not logged here: the worker relays the request to the origin server, which logs it.
      const reason = error instanceof Unavailable ? error.message : null;
      this.send({ kind: 'call-error', id, reason });
    }
  }

  private onExit(cause: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const reason = `a worker thread exited: ${cause}`;
    this.listening.reject(new Error(reason));
    this.options.onFailed(reason);
  }
}

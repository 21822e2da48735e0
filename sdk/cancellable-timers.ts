import type { Environment } from './environment.ts';
import { FourbeatError } from './errors.ts';

/** Timers of a viewer. `stop` cancels them when the viewer leaves: `wait` then rejects. */
export class CancellableTimers {
  #isStopped = false;
  readonly #cancels = new Set<() => void>();
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Resolves after this time. @throws FourbeatError `left` */
  wait(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancelWait = () => {
        cancel();
        reject(new FourbeatError('left', 'Viewer left.'));
      };
      const cancel = this.#env.after(ms, () => {
        this.#cancels.delete(cancelWait);
        resolve();
      });
      this.#cancels.add(cancelWait);
      if (this.#isStopped) cancelWait();
    });
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
  }
}

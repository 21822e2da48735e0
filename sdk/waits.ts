import type { Environment } from './environment.ts';
import { FourbeatError } from './errors.ts';

/** Waiting, until the viewer leaves. */
export class CancellableTimers {
  #isOver = false;
  readonly #ends = new Set<() => void>();
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** @throws Trouble `left` */
  wait(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        callOff();
        reject(new FourbeatError('left', 'the viewer has left'));
      };
      const callOff = this.#env.after(ms, () => {
        this.#ends.delete(end);
        resolve();
      });
      this.#ends.add(end);
      if (this.#isOver) end();
    });
  }

  stop(): void {
    this.#isOver = true;
    for (const end of this.#ends) end();
  }
}

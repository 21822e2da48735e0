/**
 * Many that ask for the same costly answer get one that was begun after they asked: those that come
 * while a call is under way wait for the next one together.
 */
export class Coalesced<T> {
  #next: Promise<T> | null = null;
  #busy: Promise<void> | null = null;

  /**
   * @param call gets the answer
   * @param pauseMs how long to leave it alone after an answer; a failure needs no pause
   */
  constructor(
    private readonly call: () => Promise<T>,
    private readonly pauseMs: (answer: T) => number,
  ) {}

  /** An answer of a call that begins now or later. @throws what the call throws */
  ask(): Promise<T> {
    if (this.#next === null && this.#busy === null) return this.#begin();
    this.#next ??= (this.#busy as Promise<void>).then(() => this.#begin());
    return this.#next;
  }

  /** Whether nobody waits and nothing is under way. */
  isIdle(): boolean {
    return this.#busy === null;
  }

  #begin(): Promise<T> {
    this.#next = null;
    const answer = this.call();
    this.#busy = answer
      .then(
        (value) => Bun.sleep(this.pauseMs(value)),
        () => {},
      )
      .then(() => {
        this.#busy = null;
      });
    return answer;
  }
}

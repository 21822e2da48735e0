import { BackOff } from './back-off.ts';
import type { Environment } from './environment.ts';
import { asTrouble, FourbeatError } from './errors.ts';

// Of a token's life: the crowd that came at once does not renew at once.
const RENEWED_AT = 0.75;
const RENEWED_WITHIN = 0.1;
// Timers count in 32 bits.
const TIMER_MAX_MS = 2_147_483_647;
// A token that is refused so soon after another one: they are not getting better.
const REFUSED_AGAIN_MS = 60_000;
// A crowd whose tokens are all refused after an outage does not renew them as one.
const SPREAD_MS = 2_000;
// What an app asks on a dead connection may never be answered.
const LIMIT_MS = 10_000;

/** Has a viewer token ready, and renews it before it expires. */
export class TokenKeeper {
  readonly #env: Environment;
  readonly #newToken: () => Promise<string>;
  readonly #failures: BackOff;
  readonly #refusals: BackOff;
  #token = '';
  #expiresMs = 0;
  #refused = '';
  #refusedMs = -REFUSED_AGAIN_MS;
  #coming: Promise<string> | null = null;
  /** Why none is asked for until `againMs`. */
  #trouble: FourbeatError | null = null;
  #againMs = 0;
  #isStopped = false;
  #isResting = false;
  #callOff = () => {};

  /** @param newToken brings a token that was not given before, in 10 s */
  constructor(env: Environment, newToken: () => Promise<string>) {
    this.#env = env;
    this.#newToken = newToken;
    this.#failures = new BackOff(env.random);
    this.#refusals = new BackOff(env.random);
  }

  /**
   * The token to use now. All who ask while one is on its way get that one; while it is renewed, the
   * old one.
   * @throws Trouble why there is none; after a failure it is the same for a while, without a request
   */
  async get(): Promise<string> {
    this.#checkIsHere();
    const nowMs = this.#env.monotonicMs();
    if (this.#token && nowMs < this.#expiresMs) return this.#token;
    if (this.#trouble && nowMs < this.#againMs) throw this.#trouble;
    return this.#renew();
  }

  /**
   * The service refuses this token (401): it is not used again.
   * @param isOfAll whether those of all viewers may be refused now; then a new one is not asked for
   *   at once
   */
  refuse(token: string, isOfAll?: boolean): void {
    if (token !== this.#token) return;
    const nowMs = this.#env.monotonicMs();
    this.#token = '';
    this.#refused = token;
    if (!this.#coming) this.#callOff();
    if (nowMs - this.#refusedMs < REFUSED_AGAIN_MS) {
      const trouble = new FourbeatError('denied', 'the token is refused', 401);
      this.#hold(this.#refusals.nextMs(trouble), trouble);
    } else {
      this.#refusals.worked();
      if (isOfAll) this.#hold(SPREAD_MS * this.#env.random());
    }
    this.#refusedMs = nowMs;
  }

  /** From now on a new one is asked for when somebody needs it. */
  rest(): void {
    this.#isResting = true;
    if (!this.#coming) this.#callOff();
  }

  /** The service can be reached again: who asks for a token now need not wait, unless it wished so. */
  retry(): void {
    if (!this.#failures.wishMs) this.#againMs = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff();
  }

  /** @throws Trouble `left` */
  #checkIsHere(): void {
    if (this.#isStopped) throw new FourbeatError('left', 'the viewer has left');
  }

  #renew(): Promise<string> {
    this.#coming ??= this.#fetch().finally(() => {
      this.#coming = null;
    });
    return this.#coming;
  }

  async #fetch(): Promise<string> {
    try {
      const token = await Promise.race([this.#newToken(), this.#limit()]);
      this.#checkIsHere();
      if (token === this.#refused) throw new FourbeatError('denied', 'the token is refused', 401);
      this.#take(token);
      return token;
    } catch (thrown) {
      const trouble = asTrouble(thrown, `getToken: ${thrown}`);
      this.#renewIn(this.#hold(this.#failures.nextMs(trouble), trouble));
      throw trouble;
    }
  }

  /** In the place of the timer that renews: that one is set when there is a token, or none. */
  #limit(): Promise<never> {
    return new Promise((_, reject) => {
      this.#callOff();
      this.#callOff = this.#env.after(LIMIT_MS, () =>
        reject(new FourbeatError('away', 'the token is late')),
      );
    });
  }

  #take(token: string): void {
    const lifeMs = lifeMsOf(token);
    this.#token = token;
    this.#failures.worked();
    this.#expiresMs = this.#env.monotonicMs() + lifeMs;
    this.#renewIn(lifeMs * (RENEWED_AT + RENEWED_WITHIN * this.#env.random()));
  }

  /** @returns for how long, ms */
  #hold(ms: number, trouble = new FourbeatError('busy', 'the token is refused', null, ms)): number {
    this.#trouble = trouble;
    this.#againMs = this.#env.monotonicMs() + ms;
    return ms;
  }

  /** Only while there is a token: without one it is asked for when somebody needs it. */
  #renewIn(ms: number): void {
    this.#callOff();
    if (this.#isStopped || this.#isResting || !this.#token || ms === Infinity) return;
    this.#callOff = this.#env.after(Math.min(ms, TIMER_MAX_MS), () => {
      this.#renew().catch(() => {});
    });
  }
}

/**
 * @returns ms from its creation to its end; infinite when it does not tell, or is no JWT
 * @throws TypeError when it is no text
 */
function lifeMsOf(token: string): number {
  const [, claims = ''] = token.split('.');
  try {
    const { iat, exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')));
    return exp > iat ? (exp - iat) * 1_000 : Infinity;
  } catch {
    return Infinity;
  }
}

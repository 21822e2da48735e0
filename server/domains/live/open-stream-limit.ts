import { RateLimited } from '../../platform/errors.ts';

/** Most event streams with the state of a show that an account has open, displays included */
export const ACCOUNT_STREAMS_MAX = 100;
/** Of these, those of one member, of all programs, or of one presenter key */
export const CALLER_STREAMS_MAX = 50;

/** Whose stream it is. */
export interface StreamCaller {
  /** The uuid of the account. */
  readonly producer: string;
  /** Key of the member, of the programs of the account, or of the presenter key. */
  readonly caller: string;
}

/** Bounds the open streams of a node (SPEC B-19): each is authorized again once a second. */
export class OpenStreamLimit {
  /** Open streams by account and by caller; without those that have none. */
  readonly #counts = new Map<string, number>();

  /** Counts a stream. @returns a function to call once when it ends @throws RateLimited */
  take({ producer, caller }: StreamCaller): () => void {
    const keys = [`account ${producer}`, `caller ${caller}`] as const;
    const [ofAccount, ofCaller] = keys.map((key) => this.#counts.get(key) ?? 0);
    if (ofAccount === ACCOUNT_STREAMS_MAX || ofCaller === CALLER_STREAMS_MAX) {
      throw new RateLimited('Too many shows and displays are open. Close one of them first.', 1);
    }
    for (const key of keys) this.#add(key, 1);
    return () => {
      for (const key of keys) this.#add(key, -1);
    };
  }

  #add(key: string, difference: number): void {
    const count = (this.#counts.get(key) ?? 0) + difference;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

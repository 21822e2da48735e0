import type {
  PresentedStream,
  presenterProcedures,
} from '../../domains/presenter/presenter-sql.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { sameHash } from '../accounts/api-token.ts';
import { hashSecret } from '../members/one-time-secret.ts';
import { looksLikePresenterKey } from './presenter-key.ts';

type PresenterStore = Pick<Calls<typeof presenterProcedures>, 'findPresented'>;

/** Checks presenter keys against the database on every use, so that a replaced one is out at once. */
export class PresenterKeys {
  constructor(private readonly store: PresenterStore) {}

  /** The stream that a key opens, or null when there is no such key. */
  async findStream(key: string): Promise<PresentedStream | null> {
    if (!looksLikePresenterKey(key)) return null;
    const hash = hashSecret(key);
    const stream = await this.store.findPresented({ hash });
    return stream && sameHash(stream.hash, hash) ? stream : null;
  }
}

import { studioApi } from '../../../protocol/studio-api.ts';
import type { Handlers } from '../../http/route.ts';
import type { Idempotency } from '../../storage/sql/procedure.ts';
import { hashSecret, PRESENTER_KEY, type RandomBytes, sameHash } from '../secrets.ts';
import {
  type StudioCall,
  type StudioHandlerFactory,
  secretAlreadyShown,
} from '../studio-handler.ts';

export interface StreamOfKey {
  readonly streamId: string;
  /** The uuid of the account that owns the stream. */
  readonly producer: string;
  readonly hash: string;
}

/** A stream and the account that must own it. */
interface OwnStream {
  readonly id: string;
  readonly producer: string;
}

/** Stored presenter keys: at most one for each stream, as the hash of the key. */
export interface PresenterKeyStore {
  findPresented(input: { hash: string }): Promise<StreamOfKey | null>;
  /** @returns the hash that is stored; for a repeated request, that of the first one */
  replacePresenterKey(
    input: OwnStream & { hash: string; nowMs: number },
    idempotency: Idempotency | null,
  ): Promise<{ hash: string }>;
  readPresenterKey(input: OwnStream): Promise<{ created: number | null }>;
  withdrawPresenterKey(input: OwnStream, idempotency: Idempotency | null): Promise<void>;
}

/** Checks presenter keys in the database on every use, so that a replacement takes effect at once. */
export class PresenterKeys {
  constructor(private readonly store: Pick<PresenterKeyStore, 'findPresented'>) {}

  /** The stream that a key opens, or null for an unknown key. */
  async findStream(key: string): Promise<StreamOfKey | null> {
    if (!PRESENTER_KEY.matches(key)) return null;
    const hash = hashSecret(key);
    const stream = await this.store.findPresented({ hash });
    return stream && sameHash(stream.hash, hash) ? stream : null;
  }
}

export interface PresenterKeyDeps {
  readonly store: PresenterKeyStore;
  readonly randomBytes: RandomBytes;
}

/** Presenter keys (SPEC B). `handlers` is a function, because the credentials need `keys` first. */
export function createPresenterKeys(deps: PresenterKeyDeps) {
  return {
    keys: new PresenterKeys(deps.store),
    handlers: (studio: StudioHandlerFactory) => presenterKeyHandlers(studio, deps),
  };
}

type Operations = Pick<
  typeof studioApi,
  'createPresenterKey' | 'readPresenterKey' | 'withdrawPresenterKey'
>;

/** Creates, reads and withdraws the presenter key of a stream (SPEC B). */
export function presenterKeyHandlers(
  studio: StudioHandlerFactory,
  { store, randomBytes }: PresenterKeyDeps,
): Handlers<Operations> {
  return {
    createPresenterKey: studio(studioApi.createPresenterKey, async (call) => {
      const { nowMs, origin, idempotency } = call;
      const key = PRESENTER_KEY.create(randomBytes);
      const hash = hashSecret(key);
      const stored = await store.replacePresenterKey(
        { ...ownStream(call), hash, nowMs },
        idempotency,
      );
      if (stored.hash !== hash) throw secretAlreadyShown('a presenter key');
      return { key, url: `${origin}/studio/present/${ownStream(call).id}#key=${key}` };
    }),

    readPresenterKey: studio(studioApi.readPresenterKey, (call) =>
      store.readPresenterKey(ownStream(call)),
    ),

    withdrawPresenterKey: studio(studioApi.withdrawPresenterKey, async (call) => {
      await store.withdrawPresenterKey(ownStream(call), call.idempotency);
      return null;
    }),
  };
}

const ownStream = ({ producer, params }: StudioCall): OwnStream => ({
  id: params.stream_id ?? '',
  producer,
});

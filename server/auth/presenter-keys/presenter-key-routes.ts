import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { Handlers } from '../../http/route.ts';
import { secretAlreadyShown } from '../../http/shown-once.ts';
import { hashSecret } from '../members/one-time-secret.ts';
import type { StudioCall, StudioHandlerFactory } from '../studio-operation.ts';
import { newPresenterKey } from './presenter-key.ts';

export interface PresenterKeyDeps {
  readonly store: Pick<Store, 'replacePresenterKey' | 'readPresenterKey' | 'withdrawPresenterKey'>;
  /** Secure source of new keys, `n` bytes at a time. */
  readonly randomBytes: (n: number) => Uint8Array;
}

type Operations = Pick<
  typeof studioApi,
  'createPresenterKey' | 'readPresenterKey' | 'withdrawPresenterKey'
>;

/** Keys that open the presenter view of a stream (SPEC B). */
export function presenterKeyHandlers(
  studio: StudioHandlerFactory,
  { store, randomBytes }: PresenterKeyDeps,
): Handlers<Operations> {
  return {
    createPresenterKey: studio(studioApi.createPresenterKey, async (call) => {
      const { nowMs, origin, idempotency } = call;
      const key = newPresenterKey(randomBytes);
      const hash = hashSecret(key);
      const kept = await store.replacePresenterKey({ ...ownStreamKey(call), hash, nowMs }, idempotency);
      if (kept.hash !== hash) throw secretAlreadyShown('a presenter key');
      return { key, url: `${origin}/studio/present/${ownStreamKey(call).id}#key=${key}` };
    }),

    readPresenterKey: studio(studioApi.readPresenterKey, (call) =>
      store.readPresenterKey(ownStreamKey(call)),
    ),

    withdrawPresenterKey: studio(studioApi.withdrawPresenterKey, async (call) => {
      await store.withdrawPresenterKey(ownStreamKey(call), call.idempotency);
      return null;
    }),
  };
}

const ownStreamKey = ({ producer, params }: StudioCall) => ({ id: params.stream_id ?? '', producer });

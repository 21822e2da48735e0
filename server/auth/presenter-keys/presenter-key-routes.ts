import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { Handlers } from '../../http/route.ts';
import { shownOnce } from '../../http/shown-once.ts';
import { hashOfSecret } from '../members/one-time-secret.ts';
import type { StudioCall, StudioWrapper } from '../studio-operation.ts';
import { newPresenterKey } from './presenter-key.ts';

export interface PresenterKeyRoutes {
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
  studio: StudioWrapper,
  { store, randomBytes }: PresenterKeyRoutes,
): Handlers<Operations> {
  return {
    createPresenterKey: studio(studioApi.createPresenterKey, async (call) => {
      const { nowMs, origin, once } = call;
      const key = newPresenterKey(randomBytes);
      const hash = hashOfSecret(key);
      const kept = await store.replacePresenterKey({ ...own(call), hash, nowMs }, once);
      if (kept.hash !== hash) throw shownOnce('a presenter key');
      return { key, url: `${origin}/studio/present/${own(call).id}#key=${key}` };
    }),

    readPresenterKey: studio(studioApi.readPresenterKey, (call) =>
      store.readPresenterKey(own(call)),
    ),

    withdrawPresenterKey: studio(studioApi.withdrawPresenterKey, async (call) => {
      await store.withdrawPresenterKey(own(call), call.once);
      return null;
    }),
  };
}

const own = ({ producer, params }: StudioCall) => ({ id: params.stream_id ?? '', producer });

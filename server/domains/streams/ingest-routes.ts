import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { StudioWrapper } from '../../auth/studio-operation.ts';
import type { Handlers } from '../../http/route.ts';
import type { IngestAddresses } from '../../media/ingest/ingest-addresses.ts';
import { newStreamKey } from '../../media/ingest/stream-key.ts';
import { ingestOf } from './studio-wire.ts';

export interface StudioIngestRoutes {
  readonly store: Pick<Store, 'findIngest' | 'keepStreamKey' | 'rotateStreamKey'>;
  readonly ingestAddresses: IngestAddresses;
  /** Secure source of new keys, `n` bytes at a time. */
  readonly randomBytes: (n: number) => Uint8Array;
}

type Operations = Pick<typeof studioApi, 'readIngest' | 'rotateStreamKey'>;

/** Where the video of the account's streams is sent, and with which key (SPEC M-1). */
export function ingestHandlers(
  studio: StudioWrapper,
  { store, ingestAddresses, randomBytes }: StudioIngestRoutes,
): Handlers<Operations> {
  return {
    readIngest: studio(studioApi.readIngest, async ({ producer, params, nowMs, origin }) => {
      const own = { id: params.stream_id ?? '', producer };
      const { key, source } = await store.findIngest({ ...own, nowMs });
      const offer = () => store.keepStreamKey({ ...own, offered: newStreamKey(randomBytes) });
      const row = { key: key ?? (await offer()), source };
      return ingestOf(own.id, row, origin, ingestAddresses);
    }),

    rotateStreamKey: studio(
      studioApi.rotateStreamKey,
      async ({ producer, params, nowMs, origin, once }) => {
        const own = { id: params.stream_id ?? '', producer };
        const key = newStreamKey(randomBytes);
        const row = await store.rotateStreamKey({ ...own, key, nowMs }, once);
        return ingestOf(own.id, row, origin, ingestAddresses);
      },
    ),
  };
}

import { studioApi } from '../../../protocol/studio-api.ts';
import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import type { IngestAddresses } from '../../media/ingest/ingest-addresses.ts';
import type { createIngestProcedures } from '../../media/ingest/ingest-sql.ts';
import { newStreamKey } from '../../media/ingest/stream-key.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { ingestOf } from './stream-wire.ts';
import type { StreamRow } from './streams-sql.ts';

export interface StudioIngestRoutes {
  readonly store: Pick<
    Calls<ReturnType<typeof createIngestProcedures<StreamRow>>>,
    'findIngest' | 'keepStreamKey' | 'rotateStreamKey'
  >;
  readonly ingestAddresses: IngestAddresses;
  /** Secure source of new keys, `n` bytes at a time. */
  readonly randomBytes: (n: number) => Uint8Array;
}

/** The routes of ingest addresses and stream keys (SPEC M-1). */
export function ingestHandlers(
  studio: StudioHandlerFactory,
  { store, ingestAddresses, randomBytes }: StudioIngestRoutes,
) {
  return {
    readIngest: studio(studioApi.readIngest, async ({ producer, params, nowMs, origin }) => {
      const own = { id: params.stream_id ?? '', producer };
      const { key, ...state } = await store.findIngest({ ...own, nowMs });
      const offer = () => store.keepStreamKey({ ...own, offered: newStreamKey(randomBytes) });
      const row = { key: key ?? (await offer()), ...state };
      return ingestOf(own.id, row, origin, ingestAddresses);
    }),

    rotateStreamKey: studio(
      studioApi.rotateStreamKey,
      async ({ producer, params, nowMs, origin, idempotency }) => {
        const own = { id: params.stream_id ?? '', producer };
        const key = newStreamKey(randomBytes);
        const row = await store.rotateStreamKey({ ...own, key, nowMs }, idempotency);
        return ingestOf(own.id, row, origin, ingestAddresses);
      },
    ),
  };
}

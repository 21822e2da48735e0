import { PRODUCER_EVENT_BYTES } from '../../../protocol/limits.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Calls, Idempotency } from '../../storage/sql/procedure.ts';
import type { producerEventProcedures } from './producer-events-sql.ts';
import { studioStreamOf } from './stream-wire.ts';
import type { OwnId, StreamRow, streamProcedures } from './streams-sql.ts';

/** Reopens a stream, with what other domains made of its end. */
interface ReopenStore {
  reopenStream(
    input: OwnId & { readonly nowMs: number },
    idempotency?: Idempotency | null,
  ): Promise<StreamRow>;
}

export interface StudioStreamRoutes {
  readonly store: Calls<typeof streamProcedures & typeof producerEventProcedures> & ReopenStore;
  readonly newId: () => string;
}

/** The routes of a producer's streams and custom events (SPEC P-7 … P-14, P-23 … P-26). */
export function studioStreamHandlers(
  studio: StudioHandlerFactory,
  { store, newId }: StudioStreamRoutes,
) {
  return {
    createStream: studio(
      studioApi.createStream,
      async ({ producer, nowMs, idempotency, origin }, stream) => {
        const row = await store.createStream({ id: newId(), producer, stream, nowMs }, idempotency);
        return studioStreamOf(row, origin);
      },
    ),

    listOwnStreams: studio(studioApi.listOwnStreams, async ({ producer, origin }) => {
      const { streams } = await store.listStreams({
        producer,
        withUnlisted: true,
        limit: Number.MAX_SAFE_INTEGER,
        offset: 0,
      });
      return { results: streams.map((row) => studioStreamOf(row, origin)) };
    }),

    readOwnStream: studio(studioApi.readOwnStream, async (call) =>
      studioStreamOf(await store.findOwnStream(ownStream(call)), call.origin),
    ),

    patchStream: studio(studioApi.patchStream, async (call, patch) => {
      const { nowMs, idempotency, origin } = call;
      const row = await store.patchStream({ ...ownStream(call), patch, nowMs }, idempotency);
      return studioStreamOf(row, origin);
    }),

    startStream: studio(studioApi.startStream, async (call) => {
      const { nowMs, idempotency, origin } = call;
      const row = await store.startStream({ ...ownStream(call), nowMs }, idempotency);
      return studioStreamOf(row, origin);
    }),

    endStream: studio(studioApi.endStream, async (call, { at = null }) => {
      const { nowMs, idempotency, origin } = call;
      const row = await store.endStream({ ...ownStream(call), atMs: at, nowMs }, idempotency);
      return studioStreamOf(row, origin);
    }),

    reopenStream: studio(studioApi.reopenStream, async (call) => {
      const { nowMs, idempotency, origin } = call;
      const row = await store.reopenStream({ ...ownStream(call), nowMs }, idempotency);
      return studioStreamOf(row, origin);
    }),

    sendEvent: studio(studioApi.sendEvent, async (call, event) => {
      if (Buffer.byteLength(JSON.stringify(event.data)) > PRODUCER_EVENT_BYTES) {
        const detail = `data: must have at most ${PRODUCER_EVENT_BYTES} bytes of JSON.`;
        throw new DomainError('invalid', detail);
      }
      const { nowMs, idempotency } = call;
      return store.recordProducerEvent({ ...ownStreamInput(call), event, nowMs }, idempotency);
    }),
  };
}

const ownStream = ({ producer, params }: StudioCall) => ({ id: params.stream_id ?? '', producer });

import { PRODUCER_EVENT_BYTES } from '../../../protocol/limits.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { StudioCall, StudioWrapper } from '../../auth/studio-operation.ts';
import { Problem } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import { studioStreamOf } from './studio-wire.ts';

export interface StudioStreamRoutes {
  readonly store: Pick<
    Store,
    | 'createStream'
    | 'listStreams'
    | 'findOwnStream'
    | 'patchStream'
    | 'startStream'
    | 'endStream'
    | 'recordProducerEvent'
  >;
  readonly newId: () => string;
}

type Operations = Pick<
  typeof studioApi,
  | 'createStream'
  | 'listOwnStreams'
  | 'readOwnStream'
  | 'patchStream'
  | 'startStream'
  | 'endStream'
  | 'sendEvent'
>;

/** The account's streams and the producer's own events (SPEC P-7 … P-14, P-23 … P-26). */
export function studioStreamHandlers(
  studio: StudioWrapper,
  { store, newId }: StudioStreamRoutes,
): Handlers<Operations> {
  return {
    createStream: studio(
      studioApi.createStream,
      async ({ producer, nowMs, once, origin }, stream) => {
        const row = await store.createStream({ id: newId(), producer, stream, nowMs }, once);
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
      const row = await store.patchStream({ ...ownStream(call), patch }, call.once);
      return studioStreamOf(row, call.origin);
    }),

    startStream: studio(studioApi.startStream, async (call) => {
      const { nowMs, once, origin } = call;
      return studioStreamOf(await store.startStream({ ...ownStream(call), nowMs }, once), origin);
    }),

    endStream: studio(studioApi.endStream, async (call, { at = null }) => {
      const { nowMs, once, origin } = call;
      const row = await store.endStream({ ...ownStream(call), atMs: at, nowMs }, once);
      return studioStreamOf(row, origin);
    }),

    sendEvent: studio(studioApi.sendEvent, async (call, event) => {
      if (Buffer.byteLength(JSON.stringify(event.data)) > PRODUCER_EVENT_BYTES) {
        throw new Problem(400, `data: must have at most ${PRODUCER_EVENT_BYTES} bytes of JSON.`);
      }
      const { id: streamId, producer } = ownStream(call);
      const { nowMs, once } = call;
      return store.recordProducerEvent({ streamId, producer, event, nowMs }, once);
    }),
  };
}

const ownStream = ({ producer, params }: StudioCall) => ({ id: params.stream_id ?? '', producer });

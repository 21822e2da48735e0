import { PRODUCER_EVENT_BYTES } from '../../../protocol/limits.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import { JsonText } from '../../auth/json-text.ts';
import { EXPORT_BYTES } from '../../auth/large-responses.ts';
import {
  authorizeStudio,
  ownStreamInput,
  type StudioCall,
  type StudioContext,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import type { Handler } from '../../http/route.ts';
import { ConcurrencyLimiter } from '../../platform/concurrency-limiter.ts';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import { Pace } from '../../platform/pace.ts';
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

/** A stream can have 10 KB. */
const STREAMS_PER_PAGE = 100;
/** Pages of lists that wait. */
const PAGES_QUEUED_MAX = 1_000;
/** A longer list is read from the database as its client reads it. */
const READ_AT_ONCE_CHARS = 1 << 20;

export interface StudioStreamRoutes {
  /** Authorizes the list of streams, which is sent in pages. */
  readonly context: StudioContext;
  readonly store: Calls<typeof streamProcedures & typeof producerEventProcedures> & ReopenStore;
  readonly newId: () => string;
}

/** The routes of a producer's streams and custom events (SPEC P-7 … P-14, P-23 … P-26). */
export function studioStreamHandlers(
  studio: StudioHandlerFactory,
  { context, store, newId }: StudioStreamRoutes,
) {
  return {
    createStream: studio(
      studioApi.createStream,
      async ({ producer, nowMs, idempotency, origin }, stream) => {
        const row = await store.createStream({ id: newId(), producer, stream, nowMs }, idempotency);
        return studioStreamOf(row, origin);
      },
    ),

    listOwnStreams: listHandler(context, store),

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

/**
 * Lists all streams of an account. The largest list has 100 MB: a client that reads it slowly keeps only
 * a page of it in memory.
 */
function listHandler(context: StudioContext, store: StudioStreamRoutes['store']): Handler {
  const readPage = pagesInTurns(store);
  return async (request, route) => {
    const caller = await authorizeStudio(context, request, route);
    const texts = listTexts(readPage, caller.user.uuid, context.originOf(request));
    const headers = { ...route.jsonHeaders, 'X-Request-Id': context.log.requestId(request) };
    const authorized = { request, route, caller };
    let start = '';
    while (start.length < READ_AT_ONCE_CHARS && !request.signal.aborted) {
      const { done, value } = await texts.next();
      if (done)
        return new Response(context.large.json(authorized, new JsonText([start])), { headers });
      start += value;
    }
    const all = async function* () {
      yield start;
      yield* texts;
    };
    const body = context.large.body(authorized, all(), EXPORT_BYTES);
    return new Response(body, { headers });
  };
}

type PageReader = (
  producer: string,
  before: number,
) => ReturnType<StudioStreamRoutes['store']['pageOfOwnStreams']>;

/**
 * Reads one page of all lists at a time; accounts take turns (L-19). A page has up to 860 KB: 30 lists at once
 * stopped the event loop for 0.35 s.
 */
function pagesInTurns(store: StudioStreamRoutes['store']): PageReader {
  const pace = new Pace();
  const limiter = new ConcurrencyLimiter(
    1,
    PAGES_QUEUED_MAX,
    'Too many lists of streams are read; try again in a second.',
  );
  return (producer, before) =>
    limiter.run(producer, async () => {
      const read = () => store.pageOfOwnStreams({ producer, before, limit: STREAMS_PER_PAGE });
      try {
        return await pace.step(read);
      } catch (error) {
        // The others would wait for the same deadline, one after the other.
        if (error instanceof Unavailable) limiter.rejectQueued(error);
        throw error;
      }
    });
}

/** The JSON of an account's streams, newest first, in pieces. */
async function* listTexts(readPage: PageReader, producer: string, origin: string) {
  let before = Number.MAX_SAFE_INTEGER;
  for (let start = '{"results":['; ; start = ',') {
    const page = await readPage(producer, before);
    const isLast = page.length < STREAMS_PER_PAGE;
    const streams = page.map(({ stream }) => studioStreamOf(stream, origin));
    // Without the brackets of the array.
    const json = JSON.stringify(streams).slice(1, -1);
    yield (json !== '' || start !== ',' ? start : '') + json + (isLast ? ']}' : '');
    if (isLast) return;
    before = page.at(-1)?.number ?? 0;
  }
}

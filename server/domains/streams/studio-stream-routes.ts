import { PRODUCER_EVENT_BYTES } from '../../../protocol/limits.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import { CallerLimiter } from '../../auth/caller-limiter.ts';
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
import { DomainError } from '../../platform/errors.ts';
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
  const callers = new CallerLimiter();
  const pace = new Pace();
  return async (request, route) => {
    const caller = await authorizeStudio(context, request, route);
    const authorized = { request, route, caller };
    let release: (() => void) | null = null;
    // One page of all lists at a time (L-19): each has up to 860 KB, and 30 at once stopped the event loop for 0.35 s.
    const readPage: PageReader = (before) => {
      const page = { producer: caller.user.uuid, before, limit: STREAMS_PER_PAGE };
      return callers.runInTurn(caller, () => {
        // Later turns go on: the first pages of this list are in memory.
        release ??= context.large.reserve(authorized, EXPORT_BYTES);
        return pace.step(() => store.pageOfOwnStreams(page));
      });
    };
    const texts = listTexts(readPage, context.originOf(request));
    const { start, isAll } = await callers
      .withCount(caller, () => readStart(texts, request.signal))
      .finally(() => release?.());
    const body = isAll
      ? context.large.json(authorized, new JsonText([start]))
      : context.large.body(authorized, joined(start, texts), EXPORT_BYTES);
    const headers = { ...route.jsonHeaders, 'X-Request-Id': context.log.requestId(request) };
    return new Response(body, { headers });
  };
}

/** The first texts, until they have `READ_AT_ONCE_CHARS`. */
async function readStart(texts: AsyncGenerator<string>, signal: AbortSignal) {
  let start = '';
  while (start.length < READ_AT_ONCE_CHARS && !signal.aborted) {
    const { done, value } = await texts.next();
    if (done) return { start, isAll: true };
    start += value;
  }
  return { start, isAll: false };
}

async function* joined(start: string, texts: AsyncGenerator<string>) {
  yield start;
  yield* texts;
}

type PageReader = (before: number) => ReturnType<StudioStreamRoutes['store']['pageOfOwnStreams']>;

/** The JSON of an account's streams, newest first, in pieces. */
async function* listTexts(readPage: PageReader, origin: string) {
  let before = Number.MAX_SAFE_INTEGER;
  for (let start = '{"results":['; ; start = ',') {
    const page = await readPage(before);
    const isLast = page.length < STREAMS_PER_PAGE;
    const streams = page.map(({ stream }) => studioStreamOf(stream, origin));
    // Without the brackets of the array.
    const json = JSON.stringify(streams).slice(1, -1);
    yield (json !== '' || start !== ',' ? start : '') + json + (isLast ? ']}' : '');
    if (isLast) return;
    before = page.at(-1)?.number ?? 0;
  }
}

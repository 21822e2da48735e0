import type { BunRequest } from 'bun';
import type { StudioContext } from '../../auth/studio-handler.ts';
import { EVENT_STREAM, encodeEvents, openingOnly } from '../../http/event-stream.ts';
import type { Route } from '../../http/route.ts';
import { DomainError, RateLimited, Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { EventStream } from '../../realtime/feed/event-stream.ts';
import type { LiveShows, LiveSnapshot } from './live-shows.ts';
import { OpenStreamLimit, type StreamCaller } from './open-stream-limit.ts';

/** Parameters of an event stream with the state of a show. */
export interface ShowStreamRequest extends StreamCaller {
  readonly streamId: string;
  /** Checks the client's credentials again. @throws DomainError or RateLimited when they fail */
  readonly authorizeAgain: () => Promise<unknown>;
  /** @param onEnd called once when the stream has ended for any reason */
  readonly open: (onEnd: () => void) => EventStream;
  /** Streams of a show with the same format send the same bytes. */
  readonly format: string;
  readonly stateOf: (moment: LiveSnapshot) => object;
}

// How often credentials of open streams are checked: a session, role or key may have been revoked.
const AUTHORIZE_AGAIN_MS = 1_000;

/** The open event streams of this node with states of shows, one state each `LIVE_STATE_MS`. */
export class ShowStreams {
  readonly #open = new Set<EventStream>();
  readonly #limit = new OpenStreamLimit();
  /** The messages with a snapshot by format. A state with 100 winners takes about a millisecond. */
  readonly #messages = new WeakMap<LiveSnapshot, Map<string, Uint8Array>>();
  #isStopped = false;

  constructor(
    private readonly context: StudioContext,
    private readonly shows: LiveShows,
  ) {}

  /**
   * Opens a stream as the response to a request.
   * @throws Unavailable after `stop`
   * @throws RateLimited
   */
  respond(request: BunRequest<string>, route: Route, options: ShowStreamRequest): Response {
    if (this.#isStopped) throw new Unavailable('The service is stopping.');
    const headers = {
      ...route.headers,
      'X-Request-Id': this.context.log.requestId(request),
      'Content-Type': EVENT_STREAM,
    };
    const release = this.#limit.take(options);
    if (request.method !== 'HEAD') {
      const stream = this.#openStream(options, release);
      // The client may have left while its credentials were checked.
      request.signal.addEventListener('abort', () => stream.end(), { once: true });
      if (request.signal.aborted) stream.end();
      return new Response(stream.body, { headers });
    }
    release();
    return new Response(openingOnly(), { headers });
  }

  /** Ends all streams and rejects new ones. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of this.#open) stream.end();
  }

  /** @param onEnd called once when the stream has ended */
  #openStream(request: ShowStreamRequest, onEnd: () => void): EventStream {
    const stream = request.open(() => {
      onEnd();
      this.#open.delete(stream);
      unwatch();
      runtime.clearTimer(authorizeTimer);
    });
    const unwatch = this.shows.watch(
      request.streamId,
      request.producer,
      (moment) => stream.send(this.#messageOf(moment, request)),
      () => stream.end(),
    );
    const authorizeTimer = runtime.setInterval(() => {
      request.authorizeAgain().catch((error) => {
        // End the stream only on a rejection. An unavailable database decides nothing. RateLimited is a
        // rejection too: valid credentials never count toward the limit of failures.
        if (error instanceof DomainError || error instanceof RateLimited) stream.end();
      });
    }, AUTHORIZE_AGAIN_MS);
    this.#open.add(stream);
    return stream;
  }

  #messageOf(moment: LiveSnapshot, { format, stateOf }: ShowStreamRequest): Uint8Array {
    const messages = this.#messages.get(moment) ?? new Map<string, Uint8Array>();
    this.#messages.set(moment, messages);
    let message = messages.get(format);
    if (!message) {
      message = encodeEvents([{ event: 'state', data: JSON.stringify(stateOf(moment)) }]);
      messages.set(format, message);
    }
    return message;
  }
}

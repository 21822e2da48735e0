import type { BunRequest } from 'bun';
import type { StudioContext } from '../../auth/studio-operation.ts';
import { Problem } from '../../http/problem.ts';
import type { Route } from '../../http/route.ts';
import { RateLimited, Unavailable } from '../../platform/errors.ts';
import type { EventStream } from '../../realtime/feed/event-stream.ts';
import type { LiveMoment, LiveShows } from './live-shows.ts';

/** What a line to a show is, besides its request. */
export interface ShowLine {
  readonly streamId: string;
  /** Whose show it is. */
  readonly producer: string;
  /** Whether who opened it still may have it. @throws Problem when not */
  readonly admitAgain: () => Promise<unknown>;
  /** @param onEnd told when it is over, however it ended */
  readonly open: (onEnd: () => void) => EventStream;
  readonly stateOf: (moment: LiveMoment) => object;
}

// Who has a line is looked at again so often: the session, the role or the key may be gone.
const ADMIT_AGAIN_MS = 1_000;
const encoder = new TextEncoder();

/** The lines to shows that are open on this node: event streams with the state twice a second. */
export class ShowLines {
  readonly #open = new Set<EventStream>();
  #isEnded = false;

  constructor(
    private readonly gate: StudioContext,
    private readonly shows: LiveShows,
  ) {}

  /** @throws Unavailable once all were ended */
  respond(request: BunRequest<string>, route: Route, line: ShowLine): Response {
    if (this.#isEnded) throw new Unavailable('The service is stopping.');
    const headers = {
      ...route.headers,
      'X-Request-Id': this.gate.log.requestId(request),
      'Content-Type': 'text/event-stream',
    };
    // Whoever asks for the headers alone waits for no end; a body that is none would have a length.
    if (request.method === 'HEAD') return new Response(endingAtOnce(), { headers });
    return new Response(this.#begin(line).body, { headers });
  }

  /** Ends all, and lets no other begin. */
  end(): void {
    this.#isEnded = true;
    for (const stream of this.#open) stream.end();
  }

  #begin({ streamId, producer, admitAgain, open, stateOf }: ShowLine): EventStream {
    const stream = open(() => {
      this.#open.delete(stream);
      unwatch();
      clearInterval(again);
    });
    const unwatch = this.shows.watch(
      streamId,
      producer,
      (moment) => stream.send(messageOf(stateOf(moment))),
      () => stream.end(),
    );
    const again = setInterval(() => {
      admitAgain().catch((error) => {
        // A record that is unavailable says nothing about who may be here. A problem does: also that of an
        // address with too many failures, since who is still let in does not come to it.
        if (error instanceof Problem || error instanceof RateLimited) stream.end();
      });
    }, ADMIT_AGAIN_MS);
    this.#open.add(stream);
    return stream;
  }
}

function messageOf(state: object): Uint8Array {
  return encoder.encode(`event: state\ndata: ${JSON.stringify(state)}\n\n`);
}

/** What an event stream begins with, and no more: of it the runtime sends the headers alone. */
function endingAtOnce(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(encoder.encode(': fourbeat\n\n'));
      await Promise.resolve();
      controller.close();
    },
  });
}

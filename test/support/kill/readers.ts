import { type ConsistencyChecker, eventsOf, type ReadEvent } from './consistency-checker.ts';
import { jsonOf, RetryingClient, type Target, type TestedService } from './retrying-client.ts';

export interface ReadersOptions {
  readonly service: TestedService;
  readonly streamId: string;
  readonly checker: ConsistencyChecker;
  readonly random: () => number;
}

const PAUSE_MS = 50;
/** Every second replayed interval is from the last ten seconds. */
const RECENT_INTERVALS = 40;

/**
 * Viewers who only read: some long poll, some follow the event stream, some read old intervals. Every
 * body goes to the consistency checker.
 */
export class Readers {
  private readonly path: string;
  private first = 0;
  private newest = 0;
  private isOver = false;
  private readonly waiting: { key: string; resolve: (event: ReadEvent) => void }[] = [];
  private readonly unclaimed: ReadEvent[] = [];
  private readonly positions: number[] = [];
  private readonly running: Promise<void>[] = [];
  private readonly abortController = new AbortController();

  constructor(
    private readonly options: ReadersOptions,
    private readonly token: string,
  ) {
    this.path = `/api/v1/events-streams/${options.streamId}?interval=`;
  }

  /** Gets a viewer token for the readers. */
  static async open(options: ReadersOptions): Promise<Readers> {
    const answer = await new RetryingClient(options.service, '').sendUntilDefinite(
      'POST',
      '/api/v1/token',
      {
        body: { stream_id: options.streamId, unique_user_identifier: 'reader' },
        pauseMs: () => PAUSE_MS,
      },
    );
    return new Readers(options, jsonOf<{ token: string }>(answer, 200).token);
  }

  /** Starts to read at this interval, with readers spread over the nodes. */
  start(interval: number, { live, replaying }: { live: number; replaying: number }): void {
    this.first = interval;
    this.newest = interval - 1;
    const { nodes } = this.options.service;
    for (let reader = 0; reader < live; reader++) this.running.push(this.follow(interval, reader));
    for (let reader = 0; reader < replaying; reader++) this.running.push(this.replay(reader));
    for (const node of nodes.keys()) this.running.push(this.followEventStream(interval, node));
  }

  /** Takes the next event of this type and quiz that no earlier call took. */
  next(type: string, quizId?: string): Promise<ReadEvent> {
    const key = `${type} ${quizId}`;
    const index = this.unclaimed.findIndex((event) => keyOf(event) === key);
    if (index >= 0) return Promise.resolve(this.unclaimed.splice(index, 1)[0] as ReadEvent);
    return new Promise((resolve) => this.waiting.push({ key, resolve }));
  }

  /** Stops when every live reader has read the newest interval that any of them has read. */
  async stop(): Promise<void> {
    while (this.positions.some((interval) => interval < this.newest)) await Bun.sleep(PAUSE_MS);
    this.isOver = true;
    this.abortController.abort();
    await Promise.all(this.running);
  }

  /** Reads all intervals again that were ever read. @returns their events */
  async readAllAgain(): Promise<ReadEvent[]> {
    const { checker } = this.options;
    const events: ReadEvent[] = [];
    const requests = this.reader(0);
    for (const interval of checker.servedIntervals()) {
      const body = await this.read(requests, interval);
      checker.expect(body !== null, `interval ${interval} cannot be read again`);
      if (body !== null) events.push(...eventsOf(interval, body));
    }
    return events;
  }

  /**
   * Reads the event stream of one node over all intervals that were ever read.
   * @returns the number of intervals it sent
   */
  async replayFrom(node: number): Promise<number> {
    const { checker } = this.options;
    const last = checker.servedIntervals().at(-1) ?? this.first;
    let sent = 0;
    for await (const { id, data } of this.messages(node, this.first, null, new AbortController())) {
      checker.served(id, data);
      sent++;
      if (id >= last) break;
    }
    return sent;
  }

  private reader(node: number): RetryingClient {
    return new RetryingClient(this.options.service, `Bearer ${this.token}`, node);
  }

  private async follow(from: number, node: number): Promise<void> {
    const index = this.positions.push(from) - 1;
    const requests = this.reader(node);
    for (let interval = from; !this.isOver; ) {
      this.positions[index] = interval;
      const body = await this.read(requests, interval);
      if (body === null) await Bun.sleep(PAUSE_MS);
      else {
        this.onInterval(interval, body);
        interval++;
      }
    }
  }

  private async replay(node: number): Promise<void> {
    const requests = this.reader(node);
    for (let round = node; !this.isOver; round++) {
      await Bun.sleep(PAUSE_MS);
      const span = Math.max(1, this.newest - this.first);
      const rangeIntervals = round % 2 === 0 ? Math.min(span, RECENT_INTERVALS) : span;
      requests.selectNode(round);
      await this.read(requests, this.newest - Math.floor(this.options.random() * rangeIntervals));
    }
  }

  /** @returns null when there was no 200 */
  private async read(requests: RetryingClient, interval: number): Promise<string | null> {
    const answer = await requests.send('GET', this.path + interval);
    if (answer?.status !== 200) {
      const status = answer?.status ?? 503;
      this.options.checker.expect(
        status === 503 || status === 400,
        `interval ${interval} got ${status}`,
      );
      return null;
    }
    const body = Buffer.from(answer.body).toString();
    this.options.checker.served(interval, body);
    return body;
  }

  // Each live reader reads in order, so an interval is first read after all earlier intervals.
  private onInterval(interval: number, body: string): void {
    if (interval !== this.newest + 1) return;
    this.newest = interval;
    for (const event of eventsOf(interval, body)) {
      const index = this.waiting.findIndex(({ key }) => key === keyOf(event));
      if (index >= 0) this.waiting.splice(index, 1)[0]?.resolve(event);
      else this.unclaimed.push(event);
    }
  }

  /** Follows the event stream; when it breaks, resumes on the next node by `Last-Event-ID`. */
  private async followEventStream(from: number, firstNode: number): Promise<void> {
    let last: number | null = null;
    for (let node = firstNode; !this.isOver; node++) {
      try {
        for await (const { id, data } of this.messages(node, from, last)) {
          const inOrder = last === null ? id >= from : id > last;
          this.options.checker.expect(inOrder, `the event stream sent ${id} after ${last}`);
          this.options.checker.served(id, data);
          last = id;
        }
      } catch {
        // The connection broke, or the test is over.
      }
      await Bun.sleep(PAUSE_MS);
    }
  }

  private async *messages(
    node: number,
    from: number,
    last: number | null,
    { signal }: AbortController = this.abortController,
  ) {
    const { nodes } = this.options.service;
    const { hostname, port } = nodes[node % nodes.length] as Target;
    const headers = new Headers({
      Accept: 'text/event-stream',
      Authorization: `Bearer ${this.token}`,
    });
    if (last !== null) headers.set('Last-Event-ID', String(last));
    const url = `http://${hostname}:${port}${this.path}${from}`;
    yield* messagesOf(await fetch(url, { headers, signal }));
  }
}

function keyOf({ type, data }: ReadEvent): string {
  return `${type} ${(data as { id?: string } | null)?.id}`;
}

async function* messagesOf(response: Response): AsyncGenerator<{ id: number; data: string }> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    // The part after the last blank line may be incomplete.
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const message = /^id: (\d+)\ndata: (.*)$/.exec(part);
      if (message) yield { id: Number(message[1]), data: message[2] ?? '' };
    }
  }
}

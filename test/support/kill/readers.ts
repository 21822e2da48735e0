import { eventsOf, type Oracle, type ReadEvent } from './oracle.ts';
import { jsonOf, Requests, type Service, type Target } from './requests.ts';

export interface ReadersOptions {
  readonly service: Service;
  readonly streamId: string;
  readonly oracle: Oracle;
  readonly random: () => number;
}

const PAUSE_MS = 50;
/** Every other old interval that is asked for is of the last ten seconds. */
const RECENT_INTERVALS = 40;

/**
 * Viewers who only read: some hold requests for the interval that fills, some follow the event
 * stream, some ask for old intervals. Every body goes to the oracle, whoever got it.
 */
export class Readers {
  private readonly path: string;
  private first = 0;
  private newest = 0;
  private over = false;
  private readonly waiting: { key: string; resolve: (event: ReadEvent) => void }[] = [];
  private readonly unclaimed: ReadEvent[] = [];
  private readonly at: number[] = [];
  private readonly running: Promise<void>[] = [];
  private readonly stop = new AbortController();

  constructor(
    private readonly options: ReadersOptions,
    private readonly token: string,
  ) {
    this.path = `/api/v1/events-streams/${options.streamId}?interval=`;
  }

  /** Gets a viewer token for the readers. */
  static async open(options: ReadersOptions): Promise<Readers> {
    const answer = await new Requests(options.service, '').insist('POST', '/api/v1/token', {
      body: { stream_id: options.streamId, unique_user_identifier: 'reader' },
      pauseMs: () => PAUSE_MS,
    });
    return new Readers(options, jsonOf<{ token: string }>(answer, 200).token);
  }

  /** Begins to read, at this interval; followers and event streams are spread over the nodes. */
  begin(interval: number, { live, replaying }: { live: number; replaying: number }): void {
    this.first = interval;
    this.newest = interval - 1;
    const { nodes } = this.options.service;
    for (let reader = 0; reader < live; reader++) this.running.push(this.follow(interval, reader));
    for (let reader = 0; reader < replaying; reader++) this.running.push(this.replay(reader));
    for (const node of nodes.keys()) this.running.push(this.listen(interval, node));
  }

  /** The next event of this type, and of this quiz, in the feed that was not asked for before. */
  next(type: string, quizId?: string): Promise<ReadEvent> {
    const key = `${type} ${quizId}`;
    const index = this.unclaimed.findIndex((event) => keyOf(event) === key);
    if (index >= 0) return Promise.resolve(this.unclaimed.splice(index, 1)[0] as ReadEvent);
    return new Promise((resolve) => this.waiting.push({ key, resolve }));
  }

  /** Stops, when every reader has read up to the newest interval that one of them read. */
  async end(): Promise<void> {
    while (this.at.some((interval) => interval < this.newest)) await Bun.sleep(PAUSE_MS);
    this.over = true;
    this.stop.abort();
    await Promise.all(this.running);
  }

  /** Reads every interval that anybody ever read once more. @returns the events in them */
  async readAllAgain(): Promise<ReadEvent[]> {
    const { oracle } = this.options;
    const events: ReadEvent[] = [];
    const requests = this.reader(0);
    for (const interval of oracle.servedIntervals()) {
      const body = await this.read(requests, interval);
      oracle.expect(body !== null, `interval ${interval} cannot be read again`);
      if (body !== null) events.push(...eventsOf(interval, body));
    }
    return events;
  }

  /**
   * Follows the event stream of one node over every interval that anybody ever read.
   * @returns how many intervals it sent
   */
  async replayFrom(node: number): Promise<number> {
    const { oracle } = this.options;
    const last = oracle.servedIntervals().at(-1) ?? this.first;
    let sent = 0;
    for await (const { id, data } of this.messages(node, this.first, null, new AbortController())) {
      oracle.served(id, data);
      sent++;
      if (id >= last) break;
    }
    return sent;
  }

  private reader(node: number): Requests {
    return new Requests(this.options.service, `Bearer ${this.token}`, node);
  }

  private async follow(from: number, node: number): Promise<void> {
    const own = this.at.push(from) - 1;
    const requests = this.reader(node);
    for (let interval = from; !this.over; ) {
      this.at[own] = interval;
      const body = await this.read(requests, interval);
      if (body === null) await Bun.sleep(PAUSE_MS);
      else {
        this.took(interval, body);
        interval++;
      }
    }
  }

  private async replay(node: number): Promise<void> {
    const requests = this.reader(node);
    for (let turn = node; !this.over; turn++) {
      await Bun.sleep(PAUSE_MS);
      const span = Math.max(1, this.newest - this.first);
      const newer = turn % 2 === 0 ? Math.min(span, RECENT_INTERVALS) : span;
      requests.turnTo(turn);
      await this.read(requests, this.newest - Math.floor(this.options.random() * newer));
    }
  }

  /** @returns null when there was no 200 */
  private async read(requests: Requests, interval: number): Promise<string | null> {
    const answer = await requests.send('GET', this.path + interval);
    if (answer?.status !== 200) {
      const told = answer?.status ?? 503;
      this.options.oracle.expect(told === 503 || told === 400, `interval ${interval} got ${told}`);
      return null;
    }
    const body = Buffer.from(answer.body).toString();
    this.options.oracle.served(interval, body);
    return body;
  }

  // Intervals are in order for each reader, so the first to read one is the first to read all before.
  private took(interval: number, body: string): void {
    if (interval !== this.newest + 1) return;
    this.newest = interval;
    for (const event of eventsOf(interval, body)) {
      const index = this.waiting.findIndex(({ key }) => key === keyOf(event));
      if (index >= 0) this.waiting.splice(index, 1)[0]?.resolve(event);
      else this.unclaimed.push(event);
    }
  }

  /** Follows the event stream, and resumes by `Last-Event-ID` when it breaks: on the next node. */
  private async listen(from: number, first: number): Promise<void> {
    let last: number | null = null;
    for (let node = first; !this.over; node++) {
      try {
        for await (const { id, data } of this.messages(node, from, last)) {
          const inOrder = last === null ? id >= from : id > last;
          this.options.oracle.expect(inOrder, `the event stream sent ${id} after ${last}`);
          this.options.oracle.served(id, data);
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
    { signal }: AbortController = this.stop,
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
    // What follows the last blank line may be cut off, so it is no message yet.
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const message = /^id: (\d+)\ndata: (.*)$/.exec(part);
      if (message) yield { id: Number(message[1]), data: message[2] ?? '' };
    }
  }
}

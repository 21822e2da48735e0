import { randomUUID } from 'node:crypto';
import type { ConsistencyChecker, PublishedQuiz } from './consistency-checker.ts';
import {
  jsonOf,
  RetryingClient,
  type RetryOptions,
  type Target,
  type TestedService,
} from './retrying-client.ts';

export interface ProducerOptions {
  readonly service: TestedService;
  readonly apiToken: string;
  readonly checker: ConsistencyChecker;
  /** Every n-th event is sent once, whatever its outcome; 0: all are retried. */
  readonly sendOnceEvery?: number;
}

const RETRY_PAUSE_MS = 80;
const EVENT_PERIOD_MS = 60;
const CHOICES = ['Mars', 'Jupiter', '1984'];
const QUIZ_MS = 1_000;

/** The producer of the show. Writes have an idempotency key and are retried. */
export class Producer {
  streamId = '';
  private readonly requests: RetryingClient;
  private eventCount = 0;
  private isOver = false;

  constructor(private readonly options: ProducerOptions) {
    this.requests = new RetryingClient(options.service, `Token ${options.apiToken}`);
  }

  async createStream(): Promise<string> {
    this.streamId = (await this.write<{ id: string }>('/streams', 201, { title: 'A show' })).id;
    await this.write(`/streams/${this.streamId}/start`, 200);
    return this.streamId;
  }

  /** @returns the id of a draft */
  async draft(answer: number): Promise<string> {
    const quiz = {
      question: 'Which?',
      choices: CHOICES,
      answer: CHOICES[answer],
      duration: QUIZ_MS,
    };
    return (await this.write<{ id: string }>(`/streams/${this.streamId}/quizzes`, 201, quiz)).id;
  }

  async publish(id: string): Promise<PublishedQuiz> {
    const quiz = await this.write<PublishedQuiz>(`/quizzes/${id}/publish`, 200);
    this.options.checker.quizPublished(quiz);
    return quiz;
  }

  async requestWinners(quizzes: readonly PublishedQuiz[]): Promise<void> {
    const path = `/streams/${this.streamId}/request-winners`;
    const round = await this.write<{ id: string; quizzes: number }>(path, 201);
    const { checker } = this.options;
    checker.expect(round.quizzes === quizzes.length, `a round has ${round.quizzes} quizzes`);
    checker.roundOpened(round.id, quizzes);
  }

  /** Sends events one after the other until `stop`. */
  async sendEvents(): Promise<void> {
    while (!this.isOver) {
      const number = ++this.eventCount;
      const event =
        number % 3 === 0
          ? { type: 'purchase', data: { text: String(number) } }
          : { type: 'tick', data: { number } };
      await this.sendEvent(number, event);
      await Bun.sleep(EVENT_PERIOD_MS);
    }
  }

  private async sendEvent(number: number, event: object): Promise<void> {
    const { checker, sendOnceEvery = 0 } = this.options;
    const path = `/streams/${this.streamId}/events`;
    if (sendOnceEvery === 0 || number % sendOnceEvery > 0) await this.write(path, 201, event);
    else {
      const answer = await this.requests.send('POST', `/studio/v1${path}`, event);
      if (answer === null || answer.status === 503) return checker.eventUnknown(number);
      jsonOf(answer, 201);
    }
    checker.eventAcknowledged(number);
  }

  /** All rows of one of the stream's exports. */
  async export<Row>(kind: 'answers' | 'winners'): Promise<Row[]> {
    const path = `/studio/v1/streams/${this.streamId}/exports/${kind}`;
    const { hostname, port } = this.options.service.nodes[0] as Target;
    const response = await fetch(`http://${hostname}:${port}${path}`, {
      headers: { Authorization: `Token ${this.options.apiToken}` },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`export failed: ${response.status} ${text}`);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line));
  }

  stop(): void {
    this.isOver = true;
  }

  private async write<T>(path: string, status: number, body?: object): Promise<T> {
    const retry: RetryOptions = { key: randomUUID(), pauseMs: () => RETRY_PAUSE_MS };
    const options = body === undefined ? retry : { ...retry, body };
    return jsonOf<T>(
      await this.requests.sendUntilDefinite('POST', `/studio/v1${path}`, options),
      status,
    );
  }
}

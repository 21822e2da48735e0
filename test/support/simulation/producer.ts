import type { PublishedQuiz } from '../kill/consistency-checker.ts';
import { type HttpClient, type HttpResponse, isTemporary, RETRY_PAUSE_MS } from './http-client.ts';
import type { Oracle } from './oracle.ts';

const CHOICES = ['Mars', 'Jupiter', '1984'];
const QUIZ_MS_MIN = 1_000;
const QUIZ_MS_SPREAD = 2_000;
const EVENT_PAUSE_MS = 150;
/** Every n-th event is sent once, whatever its outcome. */
const SEND_ONCE_EVERY = 4;
/** Results and winners are published this long after a close, without faults. */
const RESULTS_MS = 700;
const ROUND_MS = 1_800;
/** After this number of refusals no earlier attempt is under way any more. */
const REFUSALS_MAX = 8;

export interface ProducerOptions {
  readonly client: HttpClient;
  readonly oracle: Oracle;
  readonly random: () => number;
  readonly newKey: () => string;
  readonly onPublished: (quiz: PublishedQuiz) => void;
}

/** The script of a show: quizzes with winners, and events of its own. */
export class Producer {
  streamId = '';
  private isOver = false;
  private eventCount = 0;

  constructor(private readonly options: ProducerOptions) {}

  /** Creates the stream and starts it. */
  async open(): Promise<string> {
    const { id } = await this.write<{ id: string }>('/streams', 201, { title: 'A show' });
    this.streamId = id;
    await this.write(`/streams/${id}/start`, 200);
    return id;
  }

  /** Plays until `stop`; resolves when its last request has ended. */
  async play(): Promise<void> {
    await Promise.all([this.playQuizzes(), this.sendEvents()]);
  }

  stop(): void {
    this.isOver = true;
  }

  private async playQuizzes(): Promise<void> {
    const { client, oracle, random } = this.options;
    while (!this.isOver) {
      const quizzes: PublishedQuiz[] = [];
      const isDouble = random() < 0.3;
      const count = isDouble ? 2 : 1;
      for (let number = 0; number < count; number++) {
        const durationMs = Math.floor(QUIZ_MS_MIN + random() * QUIZ_MS_SPREAD);
        const answer = CHOICES[Math.floor(random() * CHOICES.length)] as string;
        const draft = await this.write<{ id: string }>(`/streams/${this.streamId}/quizzes`, 201, {
          ...{ question: 'Which?', choices: CHOICES, answer, duration: durationMs },
        });
        oracle.quizPublishing(draft.id, answer);
        const quiz = await this.write<PublishedQuiz>(`/quizzes/${draft.id}/publish`, 200);
        oracle.quizPublished(quiz);
        this.options.onPublished(quiz);
        quizzes.push(quiz);
        await client.sleep(durationMs + RESULTS_MS);
      }
      if (this.isOver) return;
      await this.requestWinners();
      await client.sleep(ROUND_MS);
    }
  }

  /**
   * A round is refused while a quiz is open, or its results are not published. An attempt without a definite response
   * may still be carried out after a later one was refused, so further attempts have its key.
   */
  private async requestWinners(): Promise<void> {
    const { client, oracle, newKey } = this.options;
    const path = `/studio/v1/streams/${this.streamId}/request-winners`;
    let idempotencyKey = newKey();
    let isUnderWay = false;
    let refusalsLeft = REFUSALS_MAX;
    for (;;) {
      oracle.roundRequested();
      const response = await client.send('POST', path, { idempotencyKey });
      if (response === null || isTemporary(response)) {
        if (response?.status !== 429) isUnderWay = true;
        refusalsLeft = REFUSALS_MAX;
        await client.sleep(RETRY_PAUSE_MS);
      } else if (response.status === 201) {
        oracle.roundOpened((JSON.parse(response.text) as { id: string }).id);
        return;
      } else if (response.status === 409) {
        refusalsLeft--;
        if (!isUnderWay) oracle.roundRefused();
        if (this.isOver && (!isUnderWay || refusalsLeft <= 0)) break;
        if (!isUnderWay) idempotencyKey = newKey();
        await client.sleep(RESULTS_MS);
      } else {
        oracle.failUnlessLossy(`request-winners: ${response.status} ${response.text}`);
        return;
      }
    }
    oracle.roundRefused();
  }

  private async sendEvents(): Promise<void> {
    const { client, oracle, random, newKey } = this.options;
    const path = `/studio/v1/streams/${this.streamId}/events`;
    while (!this.isOver) {
      const number = ++this.eventCount;
      const body =
        number % 3 === 0
          ? { type: 'purchase', data: { text: String(number) } }
          : { type: 'tick', data: { number } };
      oracle.eventSent(number);
      if (number % SEND_ONCE_EVERY === 0) {
        const response = await client.send('POST', path, { body });
        if (response?.status === 201) oracle.eventAcknowledged(number);
        else if (response !== null && response.status !== 503) this.unexpected(path, response);
      } else {
        const idempotencyKey = newKey();
        const response = await client.sendUntilDefinite('POST', path, { body, idempotencyKey });
        if (response.status === 201) oracle.eventAcknowledged(number);
        else this.unexpected(path, response);
      }
      await client.sleep(EVENT_PAUSE_MS * (0.5 + random()));
    }
  }

  private async write<T>(path: string, status: number, body?: object): Promise<T> {
    const { client, newKey } = this.options;
    const options = { idempotencyKey: newKey(), ...(body && { body }) };
    const response = await client.sendUntilDefinite('POST', `/studio/v1${path}`, options);
    if (response.status !== status) throw this.unexpected(path, response);
    return JSON.parse(response.text) as T;
  }

  private unexpected(path: string, { status, text }: HttpResponse): Error {
    this.options.oracle.failUnlessLossy(`${status} to ${path}: ${text}`);
    return new Error(`${status} to ${path}`);
  }
}

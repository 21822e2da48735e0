import { triviaOf } from '../../../crowd/trivia.ts';
import type { EventsInterval, FeedEvent } from '../../../protocol/feed.ts';
import type { Quiz } from '../../../protocol/quizzes.ts';

/**
 * Somebody who opens the page of a demo: a viewer over HTTP of whom its crowd does not know. It posts
 * heartbeats, talks, answers every quiz right and reports itself as a winner.
 */
export class Outsider {
  /** What its answers, its winner reports and its chat posts were met with. */
  readonly statuses = { answers: [] as number[], wins: [] as number[], chats: [] as number[] };
  private readonly over = new AbortController();
  private headers: Record<string, string> = {};

  constructor(
    private readonly origin: string,
    private readonly streamId: string,
    private readonly identifier: string,
  ) {}

  /** Is there until it leaves, or until the demo is over. */
  async attend(): Promise<void> {
    const body = { stream_id: this.streamId, unique_user_identifier: this.identifier };
    const { token } = (await (await this.post('/token', body)).json()) as { token: string };
    this.headers = { Authorization: `Bearer ${token}` };
    const here = `/view-counts/${this.streamId}`;
    const heartbeats = setInterval(() => void this.post(here).catch(() => {}), 1_000);
    this.over.signal.addEventListener('abort', () => clearInterval(heartbeats));
    await this.post(here);
    await this.talk({ kind: 'message', text: 'Hello from outside', name: 'Bob' });
    await this.talk({ kind: 'heart', count: 7 });
    await this.read();
  }

  leave(): void {
    this.over.abort();
  }

  private async read(): Promise<void> {
    const time = (await (await this.get('/time')).json()) as { interval: number };
    for (let interval = time.interval; !this.over.signal.aborted; interval++) {
      const response = await this.get(`/events-streams/${this.streamId}?interval=${interval}`);
      const { events } = (await response.json()) as EventsInterval;
      for (const event of events) await this.react(event);
    }
  }

  private async react({ type, data }: FeedEvent): Promise<void> {
    const { statuses, streamId } = this;
    if (type === 'quiz') {
      const { id, question, closeInterval } = data as Quiz;
      const choice = triviaOf(question)?.answer;
      const answer = { streamId, choice, closeInterval };
      statuses.answers.push((await this.post(`/quizzes/${id}/answer`, answer)).status);
    }
    if (type === 'request-quiz-winners') {
      statuses.wins.push((await this.post(`/quizzes/${streamId}/record-winner`)).status);
    }
  }

  private async talk(said: object): Promise<void> {
    const { status } = await this.post(`/events-streams/${this.streamId}/chats`, said);
    this.statuses.chats.push(status);
  }

  private get(path: string): Promise<Response> {
    const { headers, over } = this;
    return fetch(`${this.origin}/api/v1${path}`, { headers, signal: over.signal });
  }

  private post(path: string, body?: object): Promise<Response> {
    const headers = { ...this.headers, ...(body && { 'Content-Type': 'application/json' }) };
    return fetch(`${this.origin}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: body ? JSON.stringify(body) : null,
      signal: this.over.signal,
    });
  }
}

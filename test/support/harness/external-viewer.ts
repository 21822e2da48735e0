import { triviaOf } from '../../../crowd/trivia.ts';
import type { EventsInterval, FeedEvent } from '../../../protocol/feed.ts';
import type { Quiz } from '../../../protocol/quizzes.ts';

/**
 * A viewer over HTTP that is not part of the crowd of a demo, such as a person who opens its page.
 * The viewer sends heartbeats, posts to the chat, answers every quiz correctly and claims to win.
 */
export class ExternalViewer {
  /** Response statuses of its answers, winner reports and chat posts. */
  readonly statuses = { answers: [] as number[], wins: [] as number[], chats: [] as number[] };
  private readonly stopped = new AbortController();
  private headers: Record<string, string> = {};

  constructor(
    private readonly origin: string,
    private readonly streamId: string,
    private readonly identifier: string,
  ) {}

  /** Watches until `leave`, or until the demo ends. */
  async watch(): Promise<void> {
    const body = { stream_id: this.streamId, unique_user_identifier: this.identifier };
    const { token } = (await (await this.post('/token', body)).json()) as { token: string };
    this.headers = { Authorization: `Bearer ${token}` };
    const here = `/view-counts/${this.streamId}`;
    const heartbeats = setInterval(() => void this.post(here).catch(() => {}), 1_000);
    this.stopped.signal.addEventListener('abort', () => clearInterval(heartbeats));
    await this.post(here);
    await this.postChat({ kind: 'message', text: 'Hello from outside', name: 'Bob' });
    await this.postChat({ kind: 'heart', count: 7 });
    await this.read();
  }

  leave(): void {
    this.stopped.abort();
  }

  private async read(): Promise<void> {
    const time = (await (await this.get('/time')).json()) as { interval: number };
    for (let interval = time.interval; !this.stopped.signal.aborted; interval++) {
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

  private async postChat(post: object): Promise<void> {
    const { status } = await this.post(`/events-streams/${this.streamId}/chats`, post);
    this.statuses.chats.push(status);
  }

  private get(path: string): Promise<Response> {
    const { headers, stopped } = this;
    return fetch(`${this.origin}/api/v1${path}`, { headers, signal: stopped.signal });
  }

  private post(path: string, body?: object): Promise<Response> {
    const headers = { ...this.headers, ...(body && { 'Content-Type': 'application/json' }) };
    return fetch(`${this.origin}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: body ? JSON.stringify(body) : null,
      signal: this.stopped.signal,
    });
  }
}

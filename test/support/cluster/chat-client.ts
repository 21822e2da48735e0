import { jsonOf, RetryingClient, type TestedService } from '../kill/retrying-client.ts';
import type { Outages } from './outages.ts';

export interface ChatClientOptions {
  readonly service: TestedService;
  readonly streamId: string;
  readonly outages: Outages;
  readonly random: () => number;
  /** Adds the violation unless the condition holds. */
  readonly expect: (holds: boolean, violation: string) => void;
}

interface Post {
  readonly sentMs: number;
  answeredMs: number;
  acknowledged: boolean;
  /** How often its message was read from the feed. */
  occurrences: number;
}

// Slow enough that an interval can contain every message: sampling drops none (C-8).
const POST_EVERY_MS = 150;
const RETRY_MS = 50;
// N-7, C-11: a post may be lost when an outage begins within this time after its response.
const UNSEALED_MS = 1_000;

/**
 * A viewer who posts chat messages to all nodes. The feed must contain each message at most once,
 * and each acknowledged message exactly once unless there was an outage.
 */
export class ChatClient {
  private readonly posts: Post[] = [];
  private running: Promise<void> = Promise.resolve();
  private isOver = false;

  constructor(private readonly options: ChatClientOptions) {}

  async start(): Promise<void> {
    const { service, streamId } = this.options;
    const response = await new RetryingClient(service, '').sendUntilDefinite(
      'POST',
      '/api/v1/token',
      {
        body: { stream_id: streamId, unique_user_identifier: 'chat-client' },
        pauseMs: () => RETRY_MS,
      },
    );
    const { token } = jsonOf<{ token: string }>(response, 200);
    this.running = this.postMessages(new RetryingClient(service, `Bearer ${token}`));
  }

  /** Receives the messages of a `chats` event. */
  receive(messages: readonly { text: string }[]): void {
    for (const { text } of messages) {
      const post = this.posts[Number(text)];
      if (post) post.occurrences++;
      else this.options.expect(false, `chat message "${text}" was never posted`);
    }
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  /** Checks every post. Call it when the whole feed has been read. */
  check(): void {
    const { outages, expect } = this.options;
    for (const [
      number,
      { sentMs, answeredMs, acknowledged, occurrences },
    ] of this.posts.entries()) {
      expect(occurrences <= 1, `chat message ${number} is in the feed ${occurrences} times`);
      // A node that is stopped with SIGTERM hands its pending messages over (N-13).
      const concurrent = outages.during(sentMs, answeredMs + UNSEALED_MS);
      const isSafe = concurrent.every(({ kind }) => kind === 'stopped');
      if (acknowledged && isSafe)
        expect(occurrences === 1, `chat message ${number} was acknowledged, and lost`);
    }
  }

  private async postMessages(client: RetryingClient): Promise<void> {
    const { random, service, streamId } = this.options;
    while (!this.isOver) {
      const post = { sentMs: Date.now(), answeredMs: 0, acknowledged: false, occurrences: 0 };
      const text = String(this.posts.push(post) - 1);
      client.selectNode(Math.floor(random() * service.nodes.length));
      const path = `/api/v1/events-streams/${streamId}/chats`;
      const response = await client.send('POST', path, { kind: 'message', text });
      post.answeredMs = Date.now();
      post.acknowledged = response?.status === 204;
      await Bun.sleep(POST_EVERY_MS);
    }
  }
}

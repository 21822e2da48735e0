import { jsonOf, RetryingClient, type TestedService } from '../kill/retrying-client.ts';
import type { Outages } from './outages.ts';

export interface ChatterOptions {
  readonly service: TestedService;
  readonly streamId: string;
  readonly outages: Outages;
  readonly random: () => number;
  readonly expect: (holds: boolean, violation: string) => void;
}

interface Post {
  readonly sentMs: number;
  answeredMs: number;
  acknowledged: boolean;
  seen: number;
}

// Fewer than an interval shows of a kind, so that none is left out by chance (C-8).
const EVERY_MS = 150;
const PAUSE_MS = 50;
// N-7, C-11: a post may be lost when something breaks this long after it.
const UNSEALED_MS = 1_000;

/** A viewer who chats on all nodes: each post is in the feed at most once, and once in calm. */
export class Chatter {
  posts = 0;
  private readonly sent: Post[] = [];
  private running: Promise<void> = Promise.resolve();
  private over = false;

  constructor(private readonly options: ChatterOptions) {}

  async begin(): Promise<void> {
    const { service, streamId } = this.options;
    const answer = await new RetryingClient(service, '').sendUntilDefinite('POST', '/api/v1/token', {
      body: { stream_id: streamId, unique_user_identifier: 'chatter' },
      pauseMs: () => PAUSE_MS,
    });
    const { token } = jsonOf<{ token: string }>(answer, 200);
    this.running = this.chat(new RetryingClient(service, `Bearer ${token}`));
  }

  /** Messages of a `chats` event. */
  read(messages: readonly { text: string }[]): void {
    for (const { text } of messages) {
      const post = this.sent[Number(text)];
      if (post) post.seen++;
      else this.options.expect(false, `chat "${text}" was never posted`);
    }
  }

  async end(): Promise<void> {
    this.over = true;
    await this.running;
  }

  /** When the whole feed has been read. */
  check(): void {
    const { outages, expect } = this.options;
    for (const [number, { sentMs, answeredMs, acknowledged, seen }] of this.sent.entries()) {
      expect(seen <= 1, `chat ${number} is in the feed ${seen} times`);
      // A node that is told to stop hands over what it holds (N-13).
      const broken = outages.during(sentMs, answeredMs + UNSEALED_MS);
      const isCalm = broken.every(({ what }) => what === 'stopped');
      if (acknowledged && isCalm) expect(seen === 1, `chat ${number} was acknowledged, and lost`);
    }
  }

  private async chat(requests: RetryingClient): Promise<void> {
    const { random, service, streamId } = this.options;
    while (!this.over) {
      const post = { sentMs: Date.now(), answeredMs: 0, acknowledged: false, seen: 0 };
      const text = String(this.sent.push(post) - 1);
      requests.selectNode(Math.floor(random() * service.nodes.length));
      const path = `/api/v1/events-streams/${streamId}/chats`;
      const answer = await requests.send('POST', path, { kind: 'message', text });
      post.answeredMs = Date.now();
      post.acknowledged = answer?.status === 204;
      if (post.acknowledged) this.posts++;
      await Bun.sleep(EVERY_MS);
    }
  }
}

import { jsonOf, RetryingClient, type TestedService } from '../kill/retrying-client.ts';

const ATTEMPT_EVERY_MS = 120;
const RETRY_MS = 50;

/** I-6: a viewer with a token of one stream tries every viewer route of another, on all nodes. */
export class UnauthorizedClient {
  private attempts = 0;
  private running: Promise<void> = Promise.resolve();
  private isOver = false;

  constructor(
    private readonly service: TestedService,
    private readonly violations: string[],
  ) {}

  async start(ownStream: string, otherStream: string): Promise<void> {
    const response = await new RetryingClient(this.service, '').sendUntilDefinite(
      'POST',
      '/api/v1/token',
      {
        body: { stream_id: ownStream, unique_user_identifier: 'unauthorized' },
        pauseMs: () => RETRY_MS,
      },
    );
    const { token } = jsonOf<{ token: string }>(response, 200);
    // Without `onResult`: the response checker allows other statuses than this client gets.
    const { nodes, timeoutMs } = this.service;
    const service = timeoutMs === undefined ? { nodes } : { nodes, timeoutMs };
    this.running = this.tryAll(new RetryingClient(service, `Bearer ${token}`), otherStream);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async tryAll(client: RetryingClient, streamId: string): Promise<void> {
    const quizId = crypto.randomUUID();
    const requests = [
      ['POST', `/api/v1/view-counts/${streamId}`],
      ['GET', `/api/v1/view-counts/${streamId}`],
      ['GET', `/api/v1/events-streams/${streamId}?interval=1`],
      ['POST', `/api/v1/events-streams/${streamId}/chats`, { kind: 'heart' }],
      ['POST', `/api/v1/quizzes/${streamId}/record-winner`],
      ['POST', `/api/v1/quizzes/${quizId}/answer`, { streamId, choice: 'Mars', closeInterval: 1 }],
    ] as const;
    while (!this.isOver) {
      const [method, path, body] = requests[
        this.attempts % requests.length
      ] as (typeof requests)[number];
      client.selectNode(this.attempts++);
      const status = (await client.send(method, path, body))?.status ?? null;
      // A route whose backend is unavailable may respond with 503; none may accept the token.
      const isRejected = status === 401 || status === 503 || status === null;
      if (!isRejected) this.violations.push(`a token of another stream got ${status}: ${path}`);
      await Bun.sleep(ATTEMPT_EVERY_MS);
    }
  }
}

import { jsonOf, RetryingClient, type TestedService } from '../kill/retrying-client.ts';

const EVERY_MS = 120;
const PAUSE_MS = 50;

/** I-6: somebody with a token of one stream tries every door of another, on all nodes. */
export class UnauthorizedClients {
  tries = 0;
  private running: Promise<void> = Promise.resolve();
  private over = false;

  constructor(
    private readonly service: TestedService,
    private readonly violations: string[],
  ) {}

  async begin(ownStream: string, otherStream: string): Promise<void> {
    const answer = await new RetryingClient(this.service, '').sendUntilDefinite(
      'POST',
      '/api/v1/token',
      {
        body: { stream_id: ownStream, unique_user_identifier: 'stranger' },
        pauseMs: () => PAUSE_MS,
      },
    );
    const { token } = jsonOf<{ token: string }>(answer, 200);
    // These answers are judged here.
    const { nodes, timeoutMs } = this.service;
    const service = timeoutMs === undefined ? { nodes } : { nodes, timeoutMs };
    this.running = this.knock(new RetryingClient(service, `Bearer ${token}`), otherStream);
  }

  async end(): Promise<void> {
    this.over = true;
    await this.running;
  }

  private async knock(requests: RetryingClient, stream: string): Promise<void> {
    const quiz = crypto.randomUUID();
    const doors = [
      ['POST', `/api/v1/view-counts/${stream}`],
      ['GET', `/api/v1/view-counts/${stream}`],
      ['GET', `/api/v1/events-streams/${stream}?interval=1`],
      ['POST', `/api/v1/events-streams/${stream}/chats`, { kind: 'heart' }],
      ['POST', `/api/v1/quizzes/${stream}/record-winner`],
      [
        'POST',
        `/api/v1/quizzes/${quiz}/answer`,
        { streamId: stream, choice: 'Mars', closeInterval: 1 },
      ],
    ] as const;
    while (!this.over) {
      const [method, path, body] = doors[this.tries % doors.length] as (typeof doors)[number];
      requests.selectNode(this.tries++);
      const status = (await requests.send(method, path, body))?.status ?? null;
      // A door that needs a backend which is unavailable may say so; none may open.
      const isShut = status === 401 || status === 503 || status === null;
      if (!isShut) this.violations.push(`a token of another stream got ${status}: ${path}`);
      await Bun.sleep(EVERY_MS);
    }
  }
}

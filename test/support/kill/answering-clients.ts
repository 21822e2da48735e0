import type { Quiz } from '../../../protocol/quizzes.ts';
import type { ConsistencyChecker, Outcome, PublishedQuiz } from './consistency-checker.ts';
import { jsonOf, RetryingClient, type TestedService } from './retrying-client.ts';

export interface AnsweringClientsOptions {
  readonly service: TestedService;
  readonly streamId: string;
  readonly checker: ConsistencyChecker;
  readonly random: () => number;
  /** Share of answers that are not retried when their outcome is unknown. */
  readonly giveUpShare?: number;
}

/** A viewer who answers and claims wins. */
interface Client {
  /** The `sub` of its token. */
  readonly id: string;
  readonly http: RetryingClient;
}

// Answers are sent up to this long after the question, the last ones after the close.
const ANSWER_MS = 1_150;
const CLAIM_MS = 800;
/** Share of clients that send a second answer, and of those that claim without having won. */
const CHANGES_ANSWER_SHARE = 0.03;
const FALSE_CLAIM_SHARE = 0.02;

/** Clients that answer and claim, each request repeated until its outcome is known. */
export class AnsweringClients {
  private clients: Client[] = [];

  constructor(private readonly options: AnsweringClientsOptions) {}

  /** Gets a token for each client. */
  async join(size: number): Promise<void> {
    const { service, streamId } = this.options;
    const join = async (number: number): Promise<Client> => {
      const anonymous = new RetryingClient(service, '', number);
      const body = { stream_id: streamId, unique_user_identifier: `client-${number}` };
      const response = await anonymous.sendUntilDefinite('POST', '/api/v1/token', {
        body,
        pauseMs: this.pauseMs,
      });
      const { token } = jsonOf<{ token: string }>(response, 200);
      return {
        id: subjectOf(token),
        http: new RetryingClient(service, `Bearer ${token}`, number + 1),
      };
    };
    this.clients = await Promise.all(Array.from({ length: size }, (_, number) => join(number)));
  }

  /** All clients answer the quiz at random times. Resolves when each outcome is known. */
  async answer(quiz: Quiz): Promise<void> {
    const { random } = this.options;
    await Promise.all(
      this.clients.map(async (client) => {
        await Bun.sleep(random() * ANSWER_MS);
        const first = Math.floor(random() * quiz.order.length);
        await this.sendAnswer(client, quiz, quiz.order[first] as string);
        if (random() > CHANGES_ANSWER_SHARE) return;
        const second = (first + Math.floor(random() * quiz.order.length)) % quiz.order.length;
        await this.sendAnswer(client, quiz, quiz.order[second] as string);
      }),
    );
  }

  /** All winners and a few other viewers claim a win. Resolves when each outcome is known. */
  async claim(quizzes: readonly PublishedQuiz[]): Promise<void> {
    const { checker, random } = this.options;
    const claimants = this.clients.filter(
      ({ id }) => checker.hasWon(quizzes, id) || random() < FALSE_CLAIM_SHARE,
    );
    await Promise.all(
      claimants.map(async (client) => {
        await Bun.sleep(random() * CLAIM_MS);
        await this.sendClaim(client);
      }),
    );
  }

  private async sendAnswer({ id, http }: Client, quiz: Quiz, choice: string): Promise<void> {
    const { checker, streamId, random, giveUpShare = 0 } = this.options;
    const path = `/api/v1/quizzes/${quiz.id}/answer`;
    const body = { streamId, choice, closeInterval: quiz.closeInterval };
    if (random() < giveUpShare) {
      const outcome = outcomeOf((await http.send('POST', path, body))?.status ?? null);
      checker.answered(quiz.id, id, choice, outcome);
      if (outcome === 'unknown') checker.gaveUp(quiz.id, id, choice);
      return;
    }
    const { status } = await http.sendUntilDefinite('POST', path, {
      body,
      pauseMs: this.pauseMs,
      onTry: (status) => checker.answered(quiz.id, id, choice, outcomeOf(status)),
    });
    checker.expect(status === 204 || status === 409, `an answer got ${status}`);
  }

  private async sendClaim({ id, http }: Client): Promise<void> {
    const { checker, streamId } = this.options;
    let tries = 0;
    const { status } = await http.sendUntilDefinite(
      'POST',
      `/api/v1/quizzes/${streamId}/record-winner`,
      {
        pauseMs: this.pauseMs,
        onTry: () => {
          tries++;
        },
      },
    );
    if (status === 204 || status === 401 || status === 409) checker.claimed(id, status, tries > 1);
    else checker.expect(false, `a claim got ${status}`);
  }

  private readonly pauseMs = (): number => 250 + this.options.random() * 500;
}

function outcomeOf(status: number | null): Outcome {
  if (status === 204) return 'acknowledged';
  return status === null || status === 503 ? 'unknown' : 'refused';
}

function subjectOf(token: string): string {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return JSON.parse(claims).sub;
}

import type { Quiz } from '../../../protocol/quizzes.ts';
import type { Oracle, Outcome, PublishedQuiz } from './oracle.ts';
import { jsonOf, Requests, type Service } from './requests.ts';

export interface CrowdOptions {
  readonly service: Service;
  readonly streamId: string;
  readonly oracle: Oracle;
  readonly random: () => number;
  /** Share of the clients that give up on an answer when they hear neither yes nor no. */
  readonly impatient?: number;
}

/** A viewer who answers, and says to have won. */
interface Client {
  /** The `sub` of its token. */
  readonly id: string;
  readonly requests: Requests;
}

// How long after the question clients answer: most in time, the last after the close.
const ANSWER_MS = 1_150;
const CLAIM_MS = 800;
/** Share of the clients that change their mind, and of those that claim without the right. */
const FICKLE = 0.03;
const BOLD = 0.02;

/** Everybody who answers and claims; a client asks again until it hears a yes or a no. */
export class Crowd {
  private clients: Client[] = [];

  constructor(private readonly options: CrowdOptions) {}

  /** Gets a token for each client. */
  async gather(size: number): Promise<void> {
    const { service, streamId } = this.options;
    const join = async (number: number): Promise<Client> => {
      const entrance = new Requests(service, '', number);
      const body = { stream_id: streamId, unique_user_identifier: `client-${number}` };
      const answer = await entrance.insist('POST', '/api/v1/token', {
        body,
        pauseMs: this.pauseMs,
      });
      const { token } = jsonOf<{ token: string }>(answer, 200);
      return {
        id: subjectOf(token),
        requests: new Requests(service, `Bearer ${token}`, number + 1),
      };
    };
    this.clients = await Promise.all(Array.from({ length: size }, (_, number) => join(number)));
  }

  /** Everybody answers the quiz in their own time. Resolves when each has heard a yes or a no. */
  async answer(quiz: Quiz): Promise<void> {
    const { random } = this.options;
    await Promise.all(
      this.clients.map(async (client) => {
        await Bun.sleep(random() * ANSWER_MS);
        const first = Math.floor(random() * quiz.order.length);
        await this.answerOnce(client, quiz, quiz.order[first] as string);
        if (random() > FICKLE) return;
        const other = (first + Math.floor(random() * quiz.order.length)) % quiz.order.length;
        await this.answerOnce(client, quiz, quiz.order[other] as string);
      }),
    );
  }

  /** Who won says so, and some who did not. Resolves when each has heard a yes or a no. */
  async claim(quizzes: readonly PublishedQuiz[]): Promise<void> {
    const { oracle, random } = this.options;
    const claimants = this.clients.filter(
      ({ id }) => oracle.hasWon(quizzes, id) || random() < BOLD,
    );
    await Promise.all(
      claimants.map(async (client) => {
        await Bun.sleep(random() * CLAIM_MS);
        await this.claimOnce(client);
      }),
    );
  }

  private async answerOnce({ id, requests }: Client, quiz: Quiz, choice: string): Promise<void> {
    const { oracle, streamId, random, impatient = 0 } = this.options;
    const path = `/api/v1/quizzes/${quiz.id}/answer`;
    const body = { streamId, choice, closeInterval: quiz.closeInterval };
    if (random() < impatient) {
      const outcome = outcomeOf((await requests.send('POST', path, body))?.status ?? null);
      oracle.answered(quiz.id, id, choice, outcome);
      if (outcome === 'unknown') oracle.gaveUp(quiz.id, id, choice);
      return;
    }
    const { status } = await requests.insist('POST', path, {
      body,
      pauseMs: this.pauseMs,
      onTry: (told) => oracle.answered(quiz.id, id, choice, outcomeOf(told)),
    });
    oracle.expect(status === 204 || status === 409, `an answer got ${status}`);
  }

  private async claimOnce({ id, requests }: Client): Promise<void> {
    const { oracle, streamId } = this.options;
    let tries = 0;
    const { status } = await requests.insist('POST', `/api/v1/quizzes/${streamId}/record-winner`, {
      pauseMs: this.pauseMs,
      onTry: () => {
        tries++;
      },
    });
    if (status === 204 || status === 401 || status === 409) oracle.claimed(id, status, tries > 1);
    else oracle.expect(false, `a claim got ${status}`);
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

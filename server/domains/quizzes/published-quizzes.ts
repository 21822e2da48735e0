import { LRUCache } from 'lru-cache';
import { type Answer, answerSchema } from '../../../protocol/quizzes.ts';
import { parseBody } from '../../http/body.ts';
import { Problem } from '../../http/problem.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { PublishedQuiz, quizProcedures } from './quizzes-sql.ts';

const QUIZZES_KEPT = 1_000;
/** Bodies kept of a quiz: all choices, as several kinds of clients write them. */
const BODIES_KEPT = 32;
const BODY_BYTES_MAX = 1_024;
const ID_CHARS = 36;

/** Where a request names its quiz, and where its body is. */
export interface AnswerAt {
  readonly idAt: number;
  readonly bodyAt: number;
  readonly end: number;
}

/** A choice of a quiz, by its index. */
export interface Chosen {
  readonly quiz: PublishedQuiz;
  readonly choice: number;
}

interface KnownBody {
  readonly bytes: Buffer;
  /** The index of the choice. */
  readonly choice: number;
}

interface Known {
  readonly id: Buffer;
  readonly quiz: PublishedQuiz;
  readonly bodies: KnownBody[];
}

/**
 * Published quizzes, read once each: what is checked of an answer here never changes. Its state, which
 * does, is for the database.
 */
export class PublishedQuizzes {
  private readonly known = new LRUCache<string, Known>({ max: QUIZZES_KEPT });
  /** What was answered last. */
  private last: Known | null = null;
  private readonly loading = new Map<string, Promise<PublishedQuiz | null>>();

  constructor(private readonly store: Pick<Calls<typeof quizProcedures>, 'findPublishedQuiz'>) {}

  /** The quiz, or null when there is none. @throws Unavailable */
  async find(id: string): Promise<PublishedQuiz | null> {
    const known = this.known.get(id);
    if (known) return known.quiz;
    const underWay = this.loading.get(id) ?? this.store.findPublishedQuiz({ id });
    this.loading.set(id, underWay);
    const quiz = await underWay.finally(() => this.loading.delete(id));
    if (quiz && !this.known.has(id)) this.known.set(id, { id: Buffer.from(id), quiz, bodies: [] });
    return quiz;
  }

  /**
   * What an answer chose, when it is known that all is right with it: viewers of a quiz send the same few
   * bodies. To find one takes 0.1 µs, to check it anew 1 µs.
   * @returns the quiz and the index of the choice; null when it is not known or not right
   */
  chosen(bytes: Buffer, { idAt, bodyAt, end }: AnswerAt): Chosen | null {
    const known = this.knownAt(bytes, idAt);
    if (!known || end - bodyAt > BODY_BYTES_MAX) return null;
    for (const body of known.bodies) {
      if (body.bytes.length === end - bodyAt && body.bytes.compare(bytes, bodyAt, end) === 0) {
        return { quiz: known.quiz, choice: body.choice };
      }
    }
    return learnt(known, bytes.subarray(bodyAt, end));
  }

  private knownAt(bytes: Buffer, idAt: number): Known | null {
    const { last } = this;
    if (last && last.id.compare(bytes, idAt, idAt + last.id.length) === 0) return last;
    const known = this.known.get(bytes.toString('latin1', idAt, idAt + ID_CHARS)) ?? null;
    if (known) this.last = known;
    return known;
  }
}

function learnt({ quiz, bodies }: Known, body: Buffer): Chosen | null {
  try {
    const answer = parseBody(answerSchema, body);
    if (answer.streamId !== quiz.streamId) return null;
    const choice = choiceIn(quiz, answer);
    if (bodies.length < BODIES_KEPT) bodies.push({ bytes: Buffer.from(body), choice });
    return { quiz, choice };
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** The index of the choice that an answer to this quiz names. @throws Problem 400 */
export function choiceIn(quiz: PublishedQuiz, { choice, closeInterval }: Answer): number {
  const index = quiz.choices.indexOf(choice);
  if (index < 0) throw new Problem(400, 'choice: must be one of the keys of the quiz’s choices.');
  if (closeInterval !== quiz.closeInterval) {
    throw new Problem(400, 'closeInterval: must be that of the quiz event.');
  }
  return index;
}

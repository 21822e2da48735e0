import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { NewRehearsal, Rehearsal } from '../../../protocol/rehearsal.ts';
import type { StudioQuiz } from '../../../protocol/studio.ts';
import { expectJson, type Harness, QUIZ } from '../harness/harness.ts';

const POLL_MS = 100;

/** A show, and requests for its rehearsals. */
export class RehearsalFixture {
  private constructor(
    readonly service: Harness,
    readonly showId: string,
  ) {}

  /** Creates a show with these quizzes as drafts. */
  static async forNewShow(service: Harness, ...quizzes: object[]): Promise<RehearsalFixture> {
    const showId = await service.createStream({ title: 'Friday quiz night' });
    for (const quiz of quizzes) {
      const body = { ...QUIZ, ...quiz };
      await expectJson(await service.studio('POST', `/streams/${showId}/quizzes`, body), 201);
    }
    return new RehearsalFixture(service, showId);
  }

  /** Requests a rehearsal; `start` also expects that it is created. */
  create(settings: Partial<NewRehearsal> = {}, headers = {}): Promise<Response> {
    const body = { viewers: 5, ...settings };
    return this.service.studio('POST', `/streams/${this.showId}/rehearsals`, body, { headers });
  }

  async start(settings: Partial<NewRehearsal> = {}): Promise<Rehearsal> {
    return expectJson(await this.create(settings), 201);
  }

  current(): Promise<Response> {
    return this.service.studio('GET', `/streams/${this.showId}/rehearsals/current`);
  }

  end(): Promise<Response> {
    return this.service.studio('DELETE', `/streams/${this.showId}/rehearsals/current`);
  }

  /** Polls the current rehearsal until it meets a condition. @throws Error after 14 s */
  async waitFor(condition: (rehearsal: Rehearsal) => boolean): Promise<Rehearsal> {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const response = await this.current();
      // A database that is slow on a busy machine counts as unavailable (503).
      const rehearsal = response.status === 503 ? null : await expectJson<Rehearsal>(response, 200);
      if (rehearsal && condition(rehearsal)) return rehearsal;
      if (waitedMs > 14_000)
        throw new Error(`rehearsal not as expected: ${JSON.stringify(rehearsal)}`);
      await Bun.sleep(POLL_MS);
    }
  }

  async quizzesOf(streamId: string): Promise<StudioQuiz[]> {
    const response = await this.service.studio('GET', `/streams/${streamId}/quizzes`);
    return (await expectJson<{ results: StudioQuiz[] }>(response, 200)).results;
  }

  /** Publishes a quiz and waits for its results. @param index its position in the rundown */
  async playQuiz(streamId: string, index: number): Promise<StudioQuiz> {
    const id = (await this.quizzesOf(streamId))[index]?.id;
    await expectJson(await this.service.studio('POST', `/quizzes/${id}/publish`), 200);
    for (;;) {
      const quiz = (await this.quizzesOf(streamId))[index];
      if (quiz?.state === 'revealed') return quiz;
      await Bun.sleep(INTERVAL_MS);
    }
  }

  /** Number of recorded answers of a stream, by its export. */
  async countRecordedAnswers(streamId: string): Promise<number> {
    const response = await this.service.studio('GET', `/streams/${streamId}/exports/answers`);
    return (await response.text()).split('\n').filter(Boolean).length;
  }
}

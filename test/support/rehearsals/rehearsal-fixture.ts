import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { NewRehearsal, Rehearsal } from '../../../protocol/rehearsal.ts';
import type { StudioQuiz } from '../../../protocol/studio.ts';
import { expectJson, type Harness, QUIZ } from '../harness/harness.ts';

const LOOK_MS = 100;

/** A show of a service, and its rehearsals. */
export class RehearsalFixture {
  private constructor(
    readonly service: Harness,
    readonly showId: string,
  ) {}

  /** With a new show that has these quizzes as drafts. */
  static async of(service: Harness, ...quizzes: object[]): Promise<RehearsalFixture> {
    const showId = await service.createStream({ title: 'Friday quiz night' });
    for (const quiz of quizzes) {
      const body = { ...QUIZ, ...quiz };
      await expectJson(await service.studio('POST', `/streams/${showId}/quizzes`, body), 201);
    }
    return new RehearsalFixture(service, showId);
  }

  create(settings: Partial<NewRehearsal> = {}, headers = {}): Promise<Response> {
    const body = { viewers: 5, ...settings };
    return this.service.studio('POST', `/streams/${this.showId}/rehearsals`, body, { headers });
  }

  async begun(settings: Partial<NewRehearsal> = {}): Promise<Rehearsal> {
    return expectJson(await this.create(settings), 201);
  }

  current(): Promise<Response> {
    return this.service.studio('GET', `/streams/${this.showId}/rehearsals/current`);
  }

  end(): Promise<Response> {
    return this.service.studio('DELETE', `/streams/${this.showId}/rehearsals/current`);
  }

  /** The rehearsal, once it is as it should be. */
  async once(isRight: (rehearsal: Rehearsal) => boolean): Promise<Rehearsal> {
    for (let lookedMs = 0; ; lookedMs += LOOK_MS) {
      const response = await this.current();
      // A machine that is busy may take a record for one that is unavailable.
      const rehearsal = response.status === 503 ? null : await expectJson<Rehearsal>(response, 200);
      if (rehearsal && isRight(rehearsal)) return rehearsal;
      if (lookedMs > 14_000) throw new Error(`it stayed at ${JSON.stringify(rehearsal)}`);
      await Bun.sleep(LOOK_MS);
    }
  }

  async quizzesOf(streamId: string): Promise<StudioQuiz[]> {
    const response = await this.service.studio('GET', `/streams/${streamId}/quizzes`);
    return (await expectJson<{ results: StudioQuiz[] }>(response, 200)).results;
  }

  /** Asks a quiz and waits until its results are there. */
  async ask(streamId: string, index: number): Promise<StudioQuiz> {
    const id = (await this.quizzesOf(streamId))[index]?.id;
    await expectJson(await this.service.studio('POST', `/quizzes/${id}/publish`), 200);
    for (;;) {
      const quiz = (await this.quizzesOf(streamId))[index];
      if (quiz?.state === 'revealed') return quiz;
      await Bun.sleep(INTERVAL_MS);
    }
  }

  /** How many answers to a quiz are in the database, by the export. */
  async recorded(streamId: string): Promise<number> {
    const response = await this.service.studio('GET', `/streams/${streamId}/exports/answers`);
    return (await response.text()).split('\n').filter(Boolean).length;
  }
}

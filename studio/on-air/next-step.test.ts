import { describe, expect, test } from 'bun:test';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { nextStep, stepKeyOf, winnersBlocker } from './next-step.ts';

const stream = (status: string) => ({ id: 'show', status }) as LiveState['stream'];
const quiz = (id: string, state: StudioQuiz['state'], reveal: StudioQuiz['reveal'] = 'auto') =>
  ({ id, state, reveal, created: 1_000 }) as StudioQuiz;
const round = (state: 'open' | 'closed', requested = 999) =>
  ({ id: 'round', state, requested, count: 2 }) as LiveState['round'];

describe('nextStep', () => {
  const drafts = [quiz('one', 'revealed'), quiz('two', 'draft'), quiz('three', 'draft')];
  /** The key of the step in a live show with this quiz on screen. */
  const stepAfter = (current: StudioQuiz, quizzes = drafts) =>
    stepKeyOf(nextStep({ stream: stream('STREAMING'), quiz: current }, quizzes));

  test('starts a new show, and is over after its end', () => {
    expect(nextStep({ stream: stream('CREATED'), quiz: null }, drafts).kind).toBe('start');
    expect(nextStep({ stream: stream('ENDED'), quiz: null }, drafts).kind).toBe('over');
  });

  test('is the first draft of a live show', () => {
    expect(stepAfter(quiz('one', 'revealed'))).toBe('publish two');
  });

  test('waits for an open quiz, and publishes the next one after automatic results', () => {
    expect(stepAfter(quiz('two', 'open'))).toBe('wait two');
    expect(stepAfter(quiz('one', 'closed'))).toBe('publish two');
  });

  test('skips a sent quiz that a stale list still has as a draft', () => {
    expect(stepAfter(quiz('two', 'revealed'))).toBe('publish three');
  });

  test('is to show manual results before the next quiz', () => {
    expect(stepAfter(quiz('one', 'closed', 'manual'))).toBe('reveal one');
  });

  test('[P-26] is to show manual results after the end of the show', () => {
    const afterEnd = (state: StudioQuiz['state']) =>
      nextStep({ stream: stream('ENDED'), quiz: quiz('one', state, 'manual') }, drafts);
    expect(stepKeyOf(afterEnd('closed'))).toBe('reveal one');
    expect(afterEnd('revealed').kind).toBe('over');
  });

  test('is to show manual results of a quiz before the latest one', () => {
    const both = [quiz('one', 'closed', 'manual'), ...drafts.slice(1)];
    expect(stepAfter(quiz('two', 'open'), both)).toBe('wait two');
    expect(stepAfter(quiz('two', 'closed'), both)).toBe('reveal one');
    // The list may be older than the state.
    expect(stepAfter(quiz('one', 'revealed', 'manual'), both)).toBe('publish two');
  });

  test('is nothing without drafts', () => {
    const last = quiz('one', 'revealed');
    expect(stepAfter(last, [last])).toBe('nothing');
  });
});

describe('winnersBlocker', () => {
  const live = stream('STREAMING');

  test('gives a reason while the service would refuse (SPEC W-3)', () => {
    expect(
      winnersBlocker({ stream: stream('CREATED'), quiz: null, round: null }, []),
    ).not.toBeNull();
    expect(
      winnersBlocker({ stream: live, quiz: quiz('a', 'open'), round: null }, []),
    ).not.toBeNull();
    expect(
      winnersBlocker({ stream: live, quiz: quiz('a', 'closed'), round: null }, []),
    ).not.toBeNull();
    expect(winnersBlocker({ stream: live, quiz: null, round: round('open') }, [])).not.toBeNull();
  });

  test('[W-7] gives a reason while a round would have every viewer as a winner', () => {
    expect(winnersBlocker({ stream: live, quiz: null, round: null }, [])).not.toBeNull();
    const announced = { stream: live, quiz: quiz('a', 'revealed'), round: round('closed', 1_001) };
    expect(winnersBlocker(announced, [])).toContain('2 winners');
  });

  test('gives a reason while results of a quiz before the latest one are not shown', () => {
    const both = [quiz('a', 'closed', 'manual'), quiz('b', 'revealed')];
    const state = { stream: live, quiz: quiz('b', 'revealed'), round: null };
    expect(winnersBlocker(state, both)).not.toBeNull();
    expect(winnersBlocker({ ...state, quiz: quiz('a', 'revealed') }, both)).toBeNull();
  });

  test('is null when all results are shown', () => {
    const shown = { stream: live, quiz: quiz('a', 'revealed'), round: round('closed') };
    expect(winnersBlocker(shown, [])).toBeNull();
  });
});

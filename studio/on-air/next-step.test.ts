import { describe, expect, test } from 'bun:test';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { nameOf, nextStep, winnersBlocker } from './next-step.ts';

const stream = (status: string) => ({ id: 'show', status }) as LiveState['stream'];
const quiz = (id: string, state: StudioQuiz['state'], reveal: StudioQuiz['reveal'] = 'auto') =>
  ({ id, state, reveal }) as StudioQuiz;
const round = (state: 'open' | 'closed') => ({ id: 'round', state }) as LiveState['round'];

describe('the big button', () => {
  const drafts = [quiz('one', 'revealed'), quiz('two', 'draft'), quiz('three', 'draft')];

  test('starts a show that has not begun, and does nothing in one that is over', () => {
    expect(nextStep({ stream: stream('CREATED'), quiz: null }, drafts).kind).toBe('start');
    expect(nextStep({ stream: stream('ENDED'), quiz: null }, drafts).kind).toBe('over');
  });

  test('sends the first quiz that was not sent', () => {
    const step = nextStep({ stream: stream('STREAMING'), quiz: quiz('one', 'revealed') }, drafts);
    expect(nameOf(step)).toBe('publish two');
  });

  test('waits while a quiz is open, and while one that shows itself is being counted', () => {
    const at = (state: StudioQuiz) =>
      nextStep({ stream: stream('STREAMING'), quiz: state }, drafts);
    expect(at(quiz('two', 'open')).kind).toBe('wait');
    expect(nameOf(at(quiz('one', 'closed')))).toBe('publish two');
  });

  test('does not offer a quiz again that the list has not heard of yet', () => {
    const sent = quiz('two', 'revealed');
    expect(nameOf(nextStep({ stream: stream('STREAMING'), quiz: sent }, drafts))).toBe(
      'publish three',
    );
  });

  test('shows results that are shown by hand before anything else is sent', () => {
    const closed = quiz('one', 'closed', 'manual');
    const step = nextStep({ stream: stream('STREAMING'), quiz: closed }, drafts);
    expect(nameOf(step)).toBe('reveal one');
  });

  test('has nothing to do when all was sent', () => {
    const last = quiz('one', 'revealed');
    expect(nextStep({ stream: stream('STREAMING'), quiz: last }, [last]).kind).toBe('nothing');
  });
});

describe('winners', () => {
  const on = stream('STREAMING');

  test('cannot be asked for while the service would say no (SPEC W-3)', () => {
    expect(winnersBlocker({ stream: stream('CREATED'), quiz: null, round: null })).not.toBeNull();
    expect(winnersBlocker({ stream: on, quiz: quiz('a', 'open'), round: null })).not.toBeNull();
    expect(winnersBlocker({ stream: on, quiz: quiz('a', 'closed'), round: null })).not.toBeNull();
    expect(winnersBlocker({ stream: on, quiz: null, round: round('open') })).not.toBeNull();
  });

  test('can be asked for when all results are shown', () => {
    const shown = { stream: on, quiz: quiz('a', 'revealed'), round: round('closed') };
    expect(winnersBlocker(shown)).toBeNull();
  });
});

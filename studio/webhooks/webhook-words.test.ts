import { describe, expect, test } from 'bun:test';
import { ATTEMPT_ERRORS, type Webhook } from '../../protocol/webhooks.ts';
import { attemptWords, healthOf } from './webhook-words.ts';

const WEBHOOK: Webhook = {
  id: '2c5ea4c0-4067-4fe9-8bad-9b1deb4d3b7d',
  url: 'https://hooks.example.org/',
  events: ['winners'],
  enabled: true,
  created: 0,
  failingSince: null,
  disabledReason: null,
};

describe('how a webhook is', () => {
  test('[H-15] says who stopped it, and why', () => {
    const shownOf = (part: Partial<Webhook>) => {
      const { text, help } = healthOf({ ...WEBHOOK, ...part });
      return [text, help];
    };
    expect(shownOf({})).toEqual(['On', null]);
    expect(shownOf({ failingSince: 1 })).toEqual(['Failing', expect.stringContaining('again')]);
    expect(shownOf({ enabled: false })).toEqual(['Paused', expect.any(String)]);
    const stopped = { enabled: false, failingSince: 1 };
    expect(shownOf({ ...stopped, disabledReason: 'gone' })).toEqual([
      'Stopped',
      expect.stringContaining('410'),
    ]);
    expect(shownOf({ ...stopped, disabledReason: 'failing' })).toEqual([
      'Stopped',
      expect.stringContaining('three days'),
    ]);
  });
});

test('[H-18] what came of an attempt is its status, or why there is none', () => {
  expect(attemptWords({ at: 0, status: 204, error: null, ms: 3 })).toBe('answered 204');
  const words = ATTEMPT_ERRORS.map((error) => attemptWords({ at: 0, status: null, error, ms: 3 }));
  expect(new Set(words).size).toBe(ATTEMPT_ERRORS.length);
});

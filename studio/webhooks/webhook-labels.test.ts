import { describe, expect, test } from 'bun:test';
import { ATTEMPT_ERRORS, type Webhook } from '../../protocol/webhooks.ts';
import { attemptLabel, healthOf } from './webhook-labels.ts';

const WEBHOOK: Webhook = {
  id: '2c5ea4c0-4067-4fe9-8bad-9b1deb4d3b7d',
  url: 'https://hooks.example.org/',
  events: ['winners'],
  enabled: true,
  created: 0,
  failingSince: null,
  disabledReason: null,
};

describe('healthOf', () => {
  test('[H-15] labels a webhook as on, failing, paused or stopped, with the reason', () => {
    const labelsOf = (part: Partial<Webhook>) => {
      const { text, help } = healthOf({ ...WEBHOOK, ...part });
      return [text, help];
    };
    expect(labelsOf({})).toEqual(['On', null]);
    expect(labelsOf({ failingSince: 1 })).toEqual(['Failing', expect.stringContaining('retried')]);
    expect(labelsOf({ enabled: false })).toEqual(['Paused', expect.any(String)]);
    const stopped = { enabled: false, failingSince: 1 };
    const gone = labelsOf({ ...stopped, disabledReason: 'gone' });
    expect(gone).toEqual(['Stopped', expect.stringContaining('410')]);
    const failing = labelsOf({ ...stopped, disabledReason: 'failing' });
    expect(failing).toEqual(['Stopped', expect.stringContaining('three days')]);
  });
});

test('[H-18] attemptLabel is the status, or the reason why there is none', () => {
  expect(attemptLabel({ at: 0, status: 204, error: null, ms: 3 })).toBe('status 204');
  const labels = ATTEMPT_ERRORS.map((error) => attemptLabel({ at: 0, status: null, error, ms: 3 }));
  expect(new Set(labels).size).toBe(ATTEMPT_ERRORS.length);
});

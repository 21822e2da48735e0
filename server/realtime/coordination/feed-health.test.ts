import { expect, test } from 'bun:test';
import pino from 'pino';
import { FeedHealth } from './feed-health.ts';

const logger = pino({ level: 'silent' });

test('[N-14] a failure after which nothing is sealed is an outage, also while both backends answer', () => {
  let nowMs = 0;
  const trouble = new FeedHealth(
    () => null,
    logger,
    () => nowMs,
  );
  trouble.note(new Error('10.0.0.5: 0 of 1 replicas have it'));
  nowMs = 299;
  expect([trouble.reason(), trouble.refusal()]).toEqual([null, null]);
  trouble.note(new Error('again'));
  nowMs = 300;
  expect(trouble.reason()).toBe('10.0.0.5: 0 of 1 replicas have it');
  expect(trouble.refusal()).toBe('Sealing is held up.');
  trouble.healed(1, 20);
  expect([trouble.reason(), trouble.refusal()]).toEqual([null, null]);
});

test('[N-9] a failure before an interval that is sealed is none', () => {
  let nowMs = 0;
  const trouble = new FeedHealth(
    () => null,
    logger,
    () => nowMs,
  );
  for (; nowMs < 2_000; nowMs += 250) {
    trouble.note(new Error('the reply was lost'));
    expect(trouble.refusal()).toBeNull();
    trouble.healed(nowMs, 20);
  }
});

test('[N-9] [N-14] what was sealed before a failure and is found after it ends no outage', () => {
  let nowMs = 0;
  const trouble = new FeedHealth(
    () => null,
    logger,
    () => nowMs,
  );
  trouble.note(new Error('the connection was closed'));
  // It ended 20 ms before Redis died, and was sealed 10 ms after; other nodes find it in the database.
  nowMs = 1_800;
  trouble.healed(7, 1_820);
  expect(trouble.refusal()).toBe('Sealing is held up.');
  trouble.healed(8, 1_570);
  expect(trouble.refusal()).toBeNull();
});

test('[N-9] sealing that goes on is no outage, however far it is behind', () => {
  let nowMs = 0;
  const trouble = new FeedHealth(
    () => null,
    logger,
    () => nowMs,
  );
  trouble.note(new Error('the reply was lost'));
  for (nowMs = 290; nowMs < 2_000; nowMs += 250) trouble.healed(nowMs, 290);
  trouble.note(new Error('and again'));
  trouble.healed(1, 1_000);
  nowMs += 1_000;
  trouble.healed(2, 900);
  expect(trouble.refusal()).toBeNull();
});

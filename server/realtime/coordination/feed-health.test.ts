import { expect, test } from 'bun:test';
import pino from 'pino';
import { FeedHealth } from './feed-health.ts';

const logger = pino({ level: 'silent' });
const redisUnavailable = () => null;

test('[N-14] a failure is an outage when no interval is sealed for 300 ms, also while Redis and the database answer', () => {
  let nowMs = 0;
  const health = new FeedHealth(redisUnavailable, logger, () => nowMs);
  health.sealingFailed(new Error('10.0.0.5: 0 of 1 replicas have it'));
  nowMs = 299;
  expect([health.reason(), health.publicReason()]).toEqual([null, null]);
  health.sealingFailed(new Error('again'));
  nowMs = 300;
  expect(health.reason()).toBe('10.0.0.5: 0 of 1 replicas have it');
  expect(health.publicReason()).toBe('Sealing is stalled.');
  health.intervalServed(1, 20);
  expect([health.reason(), health.publicReason()]).toEqual([null, null]);
});

test('[N-9] a failure is no outage when the next interval is sealed', () => {
  let nowMs = 0;
  const health = new FeedHealth(redisUnavailable, logger, () => nowMs);
  for (; nowMs < 2_000; nowMs += 250) {
    health.sealingFailed(new Error('the reply was lost'));
    expect(health.publicReason()).toBeNull();
    health.intervalServed(nowMs, 20);
  }
});

test('[N-9] [N-14] an interval sealed before a failure and found later does not end an outage', () => {
  let nowMs = 0;
  const health = new FeedHealth(redisUnavailable, logger, () => nowMs);
  health.sealingFailed(new Error('the connection was closed'));
  // Interval 7 ended 20 ms before the failure; it is found in the database 1,820 ms after its end.
  nowMs = 1_800;
  health.intervalServed(7, 1_820);
  expect(health.publicReason()).toBe('Sealing is stalled.');
  health.intervalServed(8, 1_570);
  expect(health.publicReason()).toBeNull();
});

test('[N-9] sealing that lags and continues is no outage', () => {
  let nowMs = 0;
  const health = new FeedHealth(redisUnavailable, logger, () => nowMs);
  health.sealingFailed(new Error('the reply was lost'));
  for (nowMs = 290; nowMs < 2_000; nowMs += 250) health.intervalServed(nowMs, 290);
  health.sealingFailed(new Error('and again'));
  // Interval 1 ended before the second failure, and interval 2 ended 100 ms after it.
  health.intervalServed(1, 1_000);
  nowMs += 1_000;
  health.intervalServed(2, 900);
  expect(health.publicReason()).toBeNull();
});

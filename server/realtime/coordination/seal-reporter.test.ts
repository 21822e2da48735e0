import { expect, test } from 'bun:test';
import pino from 'pino';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { createSharedChatSource } from '../../domains/chat/chat-source-shared.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { TransientBatch } from '../feed/transient-source.ts';
import { FeedHealth } from './feed-health.ts';
import type { SealReportReply } from './seal-coordinator.ts';
import { SealReporter } from './seal-reporter.ts';

const START = 7_000_000_000;

/** A reporter for which `START` has just ended. @param reply returns the reply to each report */
function testReporter(reply: () => SealReportReply, clock = { interval: START + 1 }) {
  const log = new MemoryFeedLog({ readSealed: async () => [] }, START - 1);
  const chat = createSharedChatSource({ random: Math.random, unavailableReason: () => null });
  const batches: (TransientBatch | null)[] = [];
  const reporter = new SealReporter({
    clock: { nowMs: () => intervalStartMs(clock.interval) },
    log,
    coordinator: {
      hasReported: () => true,
      report: async ({ batch }) => {
        batches.push(batch);
        return reply();
      },
    },
    presence: { replicate: async () => {} },
    isArchived: () => false,
    source: chat,
    sealer: { seal: async () => {}, canSeal: () => true },
    failover: { expect: () => {} },
    health: new FeedHealth(
      () => null,
      pino({ level: 'silent' }),
      () => 0,
    ),
  });
  return { reporter, chat, log, batches };
}

test('[N-12] [C-8] a batch with unknown result is sent again, marked as a repeat, also after an early report', async () => {
  const replies: (SealReportReply | null)[] = [
    null,
    { decision: 'early', waitMs: 1, batchResult: null, watermark: -1 },
    { decision: 'wait', waitMs: 0, batchResult: 'lost', watermark: START },
  ];
  const { reporter, chat, log, batches } = testReporter(() => {
    const reply = replies.shift();
    if (!reply) throw new Error('the reply was lost');
    return reply;
  });
  chat.hearts('s', 7);
  await reporter.report();
  await reporter.report();
  expect(batches.map((batch) => batch?.isRepeat)).toEqual([false, true, true]);
  expect(chat.isEmpty()).toBe(true);
  log.append(START, []);
  expect(reporter.isSettled(START)).toBe(false);
  log.append(START + 1, []);
  expect(reporter.isSettled(START)).toBe(true);
});

test('[N-13] a node is settled when the interval that contains its batch is sealed', async () => {
  const replies: SealReportReply[] = [
    { decision: 'wait', waitMs: 0, batchResult: 'accepted', watermark: START + 1 },
  ];
  const { reporter, chat, log } = testReporter(() => replies.shift() as SealReportReply);
  chat.hearts('s', 7);
  await reporter.report();
  log.append(START, []);
  log.append(START + 1, []);
  expect(reporter.isSettled(START)).toBe(false);
  log.append(START + 2, []);
  expect(reporter.isSettled(START)).toBe(true);
});

test('[N-10] [N-13] batches are sent once a second while sealing is stalled, and with each report by a node that leaves', async () => {
  const clock = { interval: START };
  const { reporter, chat, batches } = testReporter(() => {
    return { decision: 'wait', waitMs: 0, batchResult: 'accepted', watermark: START - 1 };
  }, clock);
  const sendsBatch = async () => {
    clock.interval += 1;
    chat.hearts('s', 1);
    await reporter.report();
    return batches.at(-1) !== null;
  };
  const sent: boolean[] = [];
  for (let n = 0; n < 16; n++) sent.push(await sendsBatch());
  expect(sent.slice(0, 4)).toEqual([true, true, true, true]);
  expect(sent.slice(4).filter(Boolean)).toHaveLength(3);
  reporter.leave();
  for (let n = 0; n < 4; n++) expect(await sendsBatch()).toBe(true);
  expect(chat.isEmpty()).toBe(true);
});

import { expect, test } from 'bun:test';
import pino from 'pino';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { createSharedChat } from '../../domains/chat/chat-shared.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { FeedHealth } from './feed-health.ts';
import type { HandOver, ReportReply } from './seal-coordinator.ts';
import { SealReporter } from './seal-reporter.ts';

const START = 7_000_000_000;

/** Reports of a node in the interval after `START`; `answer` is what it is told of each. */
function testReports(answer: () => ReportReply, clock = { interval: START + 1 }) {
  const log = new MemoryFeedLog({ readSealed: async () => [] }, START - 1);
  const chat = createSharedChat({ random: Math.random, unavailable: () => null });
  const handedOver: (HandOver | null)[] = [];
  const reports = new SealReporter({
    clock: { nowMs: () => intervalStartMs(clock.interval) },
    log,
    parts: {
      isKnown: () => true,
      report: async ({ handOver }) => {
        handedOver.push(handOver);
        return answer();
      },
    },
    presence: { send: async () => {} },
    chat,
    sealer: { seal: async () => {}, isBusy: () => false },
    late: { expect: () => {} },
    trouble: new FeedHealth(
      () => null,
      pino({ level: 'silent' }),
      () => 0,
    ),
  });
  return { reports, chat, log, handedOver };
}

test('[N-12] [C-8] what may have arrived stays in doubt when a clock is early: no post comes twice', async () => {
  const answers: (ReportReply | null)[] = [
    null,
    { verdict: 'early', waitMs: 1, handOver: null, watermark: -1 },
    { verdict: 'wait', waitMs: 0, handOver: 'lost', watermark: START },
  ];
  const { reports, chat, log, handedOver } = testReports(() => {
    const reply = answers.shift();
    if (!reply) throw new Error('the reply was lost');
    return reply;
  });
  chat.hearts('s', 7);
  await reports.report();
  await reports.report();
  expect(handedOver.map((part) => part?.isRepeat)).toEqual([false, true, true]);
  expect(chat.isEmpty()).toBe(true);
  log.append(START, []);
  expect(reports.isSettled(START)).toBe(false);
  log.append(START + 1, []);
  expect(reports.isSettled(START)).toBe(true);
});

test('[N-13] what was handed over is settled by the interval that it went into, early or not', async () => {
  const answers: ReportReply[] = [
    { verdict: 'wait', waitMs: 0, handOver: 'taken', watermark: START + 1 },
  ];
  const { reports, chat, log } = testReports(() => answers.shift() as ReportReply);
  chat.hearts('s', 7);
  await reports.report();
  log.append(START, []);
  log.append(START + 1, []);
  expect(reports.isSettled(START)).toBe(false);
  log.append(START + 2, []);
  expect(reports.isSettled(START)).toBe(true);
});

test('[N-10] [N-13] while sealing stands still posts are handed over each second, and at once by a node that leaves', async () => {
  const clock = { interval: START };
  const { reports, chat, handedOver } = testReports(() => {
    return { verdict: 'wait', waitMs: 0, handOver: 'taken', watermark: START - 1 };
  }, clock);
  const handsOverIn = async () => {
    clock.interval += 1;
    chat.hearts('s', 1);
    await reports.report();
    return handedOver.at(-1) !== null;
  };
  const ofIntervals: boolean[] = [];
  for (let n = 0; n < 16; n++) ofIntervals.push(await handsOverIn());
  expect(ofIntervals.slice(0, 4)).toEqual([true, true, true, true]);
  expect(ofIntervals.slice(4).filter((handed) => handed)).toHaveLength(3);
  reports.leave();
  for (let n = 0; n < 4; n++) expect(await handsOverIn()).toBe(true);
  expect(chat.isEmpty()).toBe(true);
});

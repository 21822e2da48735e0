import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../server/platform/errors.ts';
import type { FunctionCall } from '../../server/storage/redis/redis.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { VirtualRedis } from '../support/simulation/redis/virtual-redis.ts';

const decoder = new TextDecoder();
const KEYS = ['state', 'nodes', 'parts', 'labels', 'watched', 'log'].map((name) => `{f}:${name}`);
const LOG = KEYS.at(-1) as string;
/** A call that appends to the log once. No timeline of the database is named. */
const publish = (interval: number): FunctionCall => {
  return {
    name: 'fourbeat_publish',
    keys: KEYS,
    values: [interval, `body ${interval}`, interval - 1, ''],
  };
};
/** Whether it was published, 1 or 0, the first value of the reply. */
const codeOf = (reply: unknown) => (reply as number[])[0];
const leave: FunctionCall = { name: 'fourbeat_leave', keys: KEYS, values: ['a'] };
const present = (...offsets: number[]): FunctionCall => {
  return {
    name: 'fourbeat_hand_in',
    keys: ['{b}:s', '{b}:1'],
    values: ['list', offsets.join(' ')],
  };
};
const counted: FunctionCall = { name: 'fourbeat_count', keys: ['{b}:s', '{b}:1'], values: [] };
const publishedIn = ({ model }: VirtualRedis) => model.command('XLEN', LOG);

/** Delays of a network that is slow now and then. */
function unsteadyDelay(random: () => number) {
  return () => (random() < 0.2 ? random() * 60 : random());
}

describe('a connection to the model', () => {
  test('[N-9] a call to a silent server fails after 250 ms, later calls at once, and calls succeed soon after its return', () => {
    const virtual = VirtualRedis.open();
    expect(virtual.timed(virtual.redis.call(leave))).toEqual({ outcome: 0, ms: 2 });
    virtual.model.pause();
    const first = virtual.timed(virtual.redis.call(leave));
    expect(first.outcome).toBeInstanceOf(Unavailable);
    expect(first.ms).toBeWithin(250, 280);
    expect(virtual.redis.unavailableReason()).toContain('does not respond');
    const later = virtual.timed(virtual.redis.call(leave));
    expect(later.outcome).toBeInstanceOf(Unavailable);
    expect(later.ms).toBe(0);
    virtual.pass(2_000);
    expect(virtual.redis.unavailableReason()).not.toBeNull();
    virtual.model.resume();
    virtual.pass(510);
    expect(virtual.redis.unavailableReason()).toBeNull();
    expect(virtual.settled(virtual.redis.call(leave))).toBe(0);
  });

  test('[N-9] a paused server executes what it received after it continues, although the call failed', () => {
    const virtual = VirtualRedis.open();
    virtual.model.pause();
    expect(virtual.timed(virtual.redis.call(publish(7))).outcome).toBeInstanceOf(Unavailable);
    virtual.pass(1_000);
    expect(publishedIn(virtual)).toBe(0);
    virtual.model.resume();
    expect(publishedIn(virtual)).toBe(1);
  });

  test('[N-9] a call whose acknowledgment is lost was executed', () => {
    const virtual = VirtualRedis.open();
    const lost = virtual.redis.call(publish(7));
    virtual.toClient.next = () => null;
    const { outcome, ms } = virtual.timed(lost);
    expect(outcome).toBeInstanceOf(Unavailable);
    expect(ms).toBeWithin(250, 280);
    expect(publishedIn(virtual)).toBe(1);
    virtual.toClient.next = () => 1;
    virtual.pass(510);
    expect(codeOf(virtual.settled(virtual.redis.call(publish(7))))).toBe(0);
  });

  test('[N-9] a connection that is cut fails its calls at once, and another is opened', () => {
    const virtual = VirtualRedis.open();
    const lost = virtual.redis.call(publish(7));
    virtual.scheduler.advance(0);
    virtual.environment.cut();
    const { outcome, ms } = virtual.timed(lost);
    expect(outcome).toBeInstanceOf(Unavailable);
    expect(ms).toBe(0);
    virtual.pass(210);
    expect(publishedIn(virtual)).toBe(0);
    expect(codeOf(virtual.settled(virtual.redis.call(publish(7))))).toBe(1);
  });

  test('calls on an unsteady network are executed in order', () => {
    const virtual = VirtualRedis.open();
    const random = seededRandom(5);
    virtual.toServer.next = unsteadyDelay(random);
    virtual.toClient.next = unsteadyDelay(random);
    const calls = Array.from({ length: 100 }, (_, index) => publish(index + 1));
    const replies = virtual.settled(virtual.redis.callAll(calls)) as unknown[];
    expect(replies.map(codeOf)).toEqual(calls.map(() => 1));
  });

  test('[N-4] a read of the log waits for the next entry, or until its time is over', () => {
    const virtual = VirtualRedis.open();
    const { redis, model } = virtual;
    const reading = redis.readLog(LOG, '3-0', 1_000);
    virtual.pass(400);
    model.call(publish(4));
    const { outcome, ms } = virtual.timed(reading);
    expect(ms).toBe(1);
    expect(outcome).toMatchObject([{ id: '4-0' }]);
    const [entry] = outcome as Awaited<typeof reading>;
    expect(decoder.decode(entry?.value)).toBe('body 4');
    expect(virtual.timed(redis.readLog(LOG, '4-0', 300))).toEqual({ outcome: [], ms: 302 });
    // The wait delays no call.
    const waiting = redis.readLog(LOG, '4-0', 1_000);
    expect(virtual.timed(redis.call(publish(5))).ms).toBe(2);
    expect(virtual.settled(waiting)).toHaveLength(1);
  });

  test('the model has the same course for the same seed', () => {
    const courseOf = (seed: number) => {
      const virtual = VirtualRedis.open({ seed });
      virtual.toServer.next = unsteadyDelay(seededRandom(seed));
      const course = [virtual.model.runId];
      for (let round = 0; round < 20; round += 1) {
        if (round % 5 === 4) virtual.environment.cut();
        const { outcome, ms } = virtual.timed(virtual.redis.call(publish(round + 1)));
        course.push(`${outcome} ${ms}`);
        virtual.pass(40);
      }
      return course;
    };
    expect(courseOf(3)).toEqual(courseOf(3));
    expect(courseOf(3)).not.toEqual(courseOf(4));
  });
});

describe('the data of the model', () => {
  test('[N-12] a restart has another run id, and the data of the append-only file or none', () => {
    const virtual = VirtualRedis.open({ appendOnlyFile: true });
    const { model } = virtual;
    for (const call of [publish(1), present(1, 2)]) virtual.settled(virtual.redis.call(call));
    const { runId } = model;
    model.restart({ keepsData: true });
    expect(model.runId).not.toBe(runId);
    expect(publishedIn(virtual)).toBe(1);
    // Presence does not go to the file.
    expect(model.call(counted)).toBe(0);
    virtual.pass(300);
    expect(codeOf(virtual.settled(virtual.redis.call(publish(2))))).toBe(1);
    model.restart({ keepsData: true, losesLastSecond: true });
    expect(publishedIn(virtual)).toBe(1);
    model.restart({ keepsData: false });
    expect(publishedIn(virtual)).toBe(0);
    // The client loads the library again.
    virtual.pass(300);
    expect(codeOf(virtual.settled(virtual.redis.call(publish(1))))).toBe(1);
  });

  test('[N-12] a failover loses the writes that the replica lacks, and nothing before', () => {
    const virtual = VirtualRedis.open();
    const { model } = virtual;
    model.attachReplica({ lagMs: 100 });
    for (const call of [publish(1), present(1, 2)]) virtual.settled(virtual.redis.call(call));
    virtual.pass(100);
    for (const call of [publish(2), present(3)]) virtual.settled(virtual.redis.call(call));
    expect(model.call(counted)).toBe(3);
    const { runId } = model;
    model.failOver();
    expect(model.runId).not.toBe(runId);
    expect(publishedIn(virtual)).toBe(1);
    // Presence goes to replicas, but not the scratch key of a count.
    expect(model.call(counted)).toBe(2);
    expect(() => model.failOver()).toThrow('no replica');
  });

  test('a promoted replica expires keys by its own clock', () => {
    const virtual = VirtualRedis.open();
    const { model, scheduler } = virtual;
    model.attachReplica({ lagMs: 10, nowMs: () => scheduler.nowMs - 3_000 });
    model.call(present(1));
    virtual.pass(100);
    model.failOver();
    expect(model.timeMs()).toBe(scheduler.nowMs - 3_000);
    virtual.pass(7_000);
    expect(model.call(counted)).toBe(1);
    virtual.pass(1_000);
    expect(model.call(counted)).toBe(0);
  });

  test('[N-14] a write is confirmed once the replica has it, and not after a failover or with a large lag', () => {
    const virtual = VirtualRedis.open({ replicas: 1 });
    const { model, redis } = virtual;
    const confirmed = () => {
      const work = redis.call(publish(1)).then(() => redis.waitForReplicas(LOG));
      return virtual.timed(work);
    };
    expect(String(confirmed().outcome)).toContain('0 of 1 replicas');
    model.attachReplica({ lagMs: 40 });
    expect(confirmed()).toEqual({ outcome: undefined, ms: 1 + 40 + 1 });
    model.setReplicationLagMs(400);
    expect(String(confirmed().outcome)).toContain('0 of 1 replicas');
    model.failOver();
    model.attachReplica({ lagMs: 0 });
    virtual.pass(300);
    expect(String(confirmed().outcome)).toContain('the connection was lost');
    virtual.pass(1_000);
    expect(confirmed().outcome).toBeUndefined();
  });

  test('a key lives through the millisecond in which it expires, and is deleted later although nobody reads it', () => {
    const { model, pass } = createNow();
    model.call(present(1));
    pass(5_000);
    expect(model.call(counted)).toBe(1);
    pass(1);
    expect(model.call(counted)).toBe(0);
    for (let key = 0; key < 2_000; key += 1) {
      model.command('SET', `key ${key}`, 'value', 'PX', 10);
      pass(1);
    }
    expect(model.size).toBeLessThan(1_000);
  });

  test('[N-12] an evicted key is lost without another run id', () => {
    const { model } = createNow();
    const again = { ...publish(5), values: [5, 'body', 5, ''] };
    model.call(publish(5));
    expect(codeOf(model.call(again))).toBe(0);
    model.evict(LOG);
    expect(codeOf(model.call(again))).toBe(1);
  });
});

function createNow() {
  const virtual = VirtualRedis.open();
  return { model: virtual.model, pass: (ms: number) => virtual.pass(ms) };
}

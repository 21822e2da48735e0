import { describe, expect, test } from 'bun:test';
import { PRODUCER_EVENT_BYTES } from '../../protocol/limits.ts';
import { RateLimited } from '../platform/errors.ts';
import type { StudioCaller } from './credentials.ts';
import {
  QUIZ_BYTES_MIN,
  WRITE_BURST_BYTES,
  WRITE_BYTES_PER_REQUEST,
  WriteBytes,
  WriteCount,
} from './write-bytes.ts';

const RATE = { points: 1_200, durationS: 60 };
const MB = 1 << 20;
const callerOf = (user: object, actor: object) => ({ user, actor }) as unknown as StudioCaller;
const program = callerOf({ uuid: 'account' }, { kind: 'token' });
const member = callerOf({ uuid: 'account' }, { kind: 'member', uuid: 'host' });
const otherMember = callerOf({ uuid: 'account' }, { kind: 'member', uuid: 'owner' });
const otherAccount = callerOf({ uuid: 'other' }, { kind: 'token' });

/** The number of writes that are accepted one after the other. */
function accepted(writes: WriteBytes, caller: StudioCaller, bytes: number, nowMs: number): number {
  for (let count = 0; ; count++) {
    try {
      writes.take(caller, bytes, nowMs);
    } catch {
      return count;
    }
  }
}

test('[L-22] an account writes 64 MB at once, then 6 MB a minute', () => {
  const writes = new WriteBytes(RATE);
  expect(accepted(writes, program, MB, 0)).toBe(64);
  expect(accepted(writes, otherAccount, MB, 0)).toBe(64);
  let later = 0;
  for (let minute = 1; minute <= 100; minute++) {
    later += accepted(writes, program, MB, minute * 60_000);
  }
  expect(later).toBeWithin(580, 601);
  expect(accepted(writes, program, MB, 1_000_000_000)).toBe(64);
});

test('[L-22] a refusal says after how many seconds the same write is accepted', () => {
  const writes = new WriteBytes(RATE);
  writes.take(program, WRITE_BURST_BYTES, 0);
  let thrown: unknown;
  try {
    writes.take(program, MB, 0);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toEqual(
    new RateLimited(
      'Too much data in the writes of this account; send less, or try again in 11 s.',
      11,
    ),
  );
  expect(() => writes.take(program, MB, 10_000)).toThrow(RateLimited);
  expect(() => writes.take(program, MB, 11_000)).not.toThrow();
});

test('[L-22] after refused imports a small write is accepted within a second', () => {
  const writes = new WriteBytes(RATE);
  expect(accepted(writes, program, MB - 1, 0)).toBe(64);
  expect(() => writes.take(program, 4_096, 1_000)).not.toThrow();
});

test('[L-22] responses count, also beyond the limit, and later writes wait for them', () => {
  const writes = new WriteBytes(RATE);
  writes.take(program, WRITE_BURST_BYTES, 0);
  writes.add(program, 6_144_000, 0);
  expect(() => writes.take(program, 10, 60_000)).toThrow(RateLimited);
  expect(() => writes.take(program, 10, 60_001)).not.toThrow();
});

test('[L-22] a member takes half of its account, and leaves the rest to others', () => {
  const writes = new WriteBytes(RATE);
  expect(accepted(writes, member, MB, 0)).toBe(32);
  expect(accepted(writes, otherMember, MB, 0)).toBe(32);
  expect(accepted(writes, program, MB, 0)).toBe(0);
});

test('[L-22] events with the longest data at the highest rate are accepted for a day', () => {
  const writes = new WriteBytes(RATE);
  const envelope = { type: 'x'.repeat(40), data: null };
  const bytes = PRODUCER_EVENT_BYTES + JSON.stringify(envelope).length;
  const response = { id: '9007199254740991', streamId: crypto.randomUUID(), type: envelope.type };
  for (let n = 0; n < 24 * 60 * 1_200; n++) {
    writes.take(program, bytes, n * 50);
    writes.add(program, JSON.stringify(response).length, n * 50);
  }
});

describe('a write that creates more than its body has', () => {
  const importOf = (writes: WriteBytes, nowMs: number, quizzes: number, bodyBytes = 20_000) => {
    const write = new WriteCount(writes, program);
    write.take(bodyBytes, nowMs);
    write.take(quizzes * QUIZ_BYTES_MIN, nowMs);
    write.add(2 * bodyBytes, nowMs);
  };

  test('[L-22] a write that waited is refused when one before it has counted beyond the limit', () => {
    const writes = new WriteBytes(RATE);
    const [first, second] = [new WriteCount(writes, program), new WriteCount(writes, program)];
    for (const write of [first, second]) write.take(1_000, 0);
    first.check(0);
    first.add(2 * WRITE_BURST_BYTES, 0);
    expect(() => second.check(0)).toThrow(RateLimited);
    // What it had counted is given back: then only the first one counts.
    const msPerByte = 60_000 / (RATE.points * WRITE_BYTES_PER_REQUEST);
    const freeMs = Math.ceil((2 * WRITE_BURST_BYTES - WRITE_BURST_BYTES / 2) * msPerByte) + 1;
    writes.take(program, WRITE_BURST_BYTES / 2, freeMs);
  });

  test('[L-22] an account takes at most 25 quiz numbers a second with imports of tiny quizzes', () => {
    const writes = new WriteBytes(RATE);
    const hourMs = 3_600_000;
    let quizzes = 0;
    for (let nowMs = 0; nowMs < 10 * hourMs; nowMs += 1_000) {
      try {
        importOf(writes, nowMs, 500);
        quizzes += 500;
      } catch {}
    }
    // The first 16,384 are those of the 64 MB at once.
    expect((quizzes - 16_384) / 36_000).toBeWithin(24, 26);
  });

  test('[L-22] counts its body and response only if they are more than what it creates', () => {
    const writes = new WriteBytes(RATE);
    importOf(writes, 0, 500, MB - 1);
    importOf(writes, 0, 500, MB / 2);
    importOf(writes, 0, 512, MB / 2);
    importOf(writes, 0, 512, MB);
    expect(accepted(writes, program, MB, 0)).toBe(64 - 8);
  });

  test('[L-22] counts nothing when it is refused, and is accepted after Retry-After', () => {
    const writes = new WriteBytes(RATE);
    writes.take(program, 63 * MB, 0);
    let thrown: unknown;
    try {
      importOf(writes, 0, 512, MB);
    } catch (error) {
      thrown = error;
    }
    const { retryAfterS } = thrown as RateLimited;
    expect(retryAfterS).toBe(11);
    expect(() => importOf(writes, (retryAfterS - 1) * 1_000, 512, MB)).toThrow(RateLimited);
    expect(() => importOf(writes, retryAfterS * 1_000, 512, MB)).not.toThrow();
  });
});

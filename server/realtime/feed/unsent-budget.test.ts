import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type StreamObserver, UnsentBudget } from './unsent-budget.ts';

const LIMITS = { viewerBytes: 100, clientBytes: 250, totalBytes: 600 };

/** A stream whose client reads nothing, until it is aborted. */
class FakeStream {
  isCut = false;
  bytes = 0;

  constructor(private readonly observer: StreamObserver) {}

  set(bytes: number): void {
    if (this.isCut) return;
    this.bytes = bytes;
    this.observer.onUnsent(bytes);
  }

  end(): void {
    this.bytes = 0;
    this.observer.onEnd();
  }

  abort(): void {
    this.isCut = true;
    this.end();
  }
}

function open(budget: UnsentBudget, viewer: string, client: string | null): FakeStream {
  const owner = { viewer, client, onEnd: () => {} };
  return budget.open(owner, (observer) => new FakeStream(observer));
}

describe('[F-25] UnsentBudget', () => {
  test('cuts the slowest stream of a viewer who has too much unsent', () => {
    const budget = new UnsentBudget(LIMITS);
    const [fast, slow] = [open(budget, 'a', '1'), open(budget, 'a', '2')];
    const other = open(budget, 'b', '1');
    for (const stream of [fast, other]) stream.set(40);
    slow.set(60);
    expect(slow.isCut).toBe(false);
    slow.set(61);
    expect([fast.isCut, slow.isCut, other.isCut]).toEqual([false, true, false]);
  });

  test('cuts the slowest streams of a client, whatever viewers they have', () => {
    const budget = new UnsentBudget(LIMITS);
    const streams = [10, 90, 80, 60].map((bytes, index) => ({
      stream: open(budget, `viewer ${index}`, 'one'),
      bytes,
    }));
    for (const { stream, bytes } of streams) stream.set(bytes);
    const elsewhere = open(budget, 'another', 'two');
    elsewhere.set(99);
    streams[0]?.stream.set(30);
    expect(streams.map(({ stream }) => stream.isCut)).toEqual([false, true, false, false]);
    expect(elsewhere.isCut).toBe(false);
  });

  test('cuts the slowest of all streams, also of clients that are not known', () => {
    const budget = new UnsentBudget(LIMITS);
    const streams = Array.from({ length: 8 }, (_, n) => open(budget, `viewer ${n}`, null));
    for (const [n, stream] of streams.entries()) stream.set(70 + n);
    // 588 bytes so far.
    expect(streams.some(({ isCut }) => isCut)).toBe(false);
    streams[0]?.set(83);
    expect(streams.flatMap(({ isCut }, n) => (isCut ? [n] : []))).toEqual([0]);
  });

  test('keeps every limit, and forgets streams that ended or sent everything', () => {
    const step = fc.record({
      stream: fc.nat({ max: 19 }),
      bytes: fc.oneof(fc.constant(0), fc.nat({ max: 120 })),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const budget = new UnsentBudget(LIMITS);
        const streams = Array.from({ length: 20 }, (_, n) =>
          open(budget, `viewer ${n % 7}`, n % 5 === 0 ? null : `client ${n % 3}`),
        );
        const sumOf = (isMember: (n: number) => boolean) =>
          streams.reduce((sum, { bytes }, n) => sum + (isMember(n) ? bytes : 0), 0);
        for (const { stream, bytes, ends } of steps) {
          if (ends) streams[stream]?.abort();
          else streams[stream]?.set(bytes);
          expect(sumOf(() => true)).toBeLessThanOrEqual(LIMITS.totalBytes);
          for (let viewer = 0; viewer < 7; viewer++) {
            expect(sumOf((n) => n % 7 === viewer)).toBeLessThanOrEqual(LIMITS.viewerBytes);
          }
          for (let client = 0; client < 3; client++) {
            const isOf = (n: number) => n % 5 !== 0 && n % 3 === client;
            expect(sumOf(isOf)).toBeLessThanOrEqual(LIMITS.clientBytes);
          }
        }
        for (const stream of streams) stream.set(0);
        expect((budget as unknown as { groups: Map<string, unknown> }).groups.size).toBe(0);
      }),
    );
  });
});

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EventKind, FeedModel } from '../../../test/support/feed/feed-model.ts';
import {
  ModelSystem,
  type SealingFault,
  STREAMS,
} from '../../../test/support/feed/sealing-model-system.ts';
import { rounds } from '../../../test/support/full-run.ts';

// A service with two streams. It seals, fails, loses replies of its database, restarts and has its
// system clock stepped, in any order. A model says what each interval must contain, and a reader reads
// all intervals again after each step.

const TIME_LIMIT_MS = rounds(5_000, 30_000);

/** A step, after which the reader reads all. @param old see `readAll` */
function command(
  text: string,
  old: number,
  run: (system: ModelSystem) => unknown,
): fc.AsyncCommand<FeedModel, ModelSystem> {
  return {
    check: () => true,
    toString: () => text,
    run: async (_, system) => {
      await run(system);
      await system.readAll(old);
    },
  };
}

const stream = fc.constantFrom(...STREAMS);
const old = fc.oneof(fc.nat(60), fc.nat(600));
const fault: fc.Arbitrary<SealingFault> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<SealingFault>('none') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<SealingFault>('fails', 'reply lost', 'reply lost, then unreadable'),
  },
);
const kind = fc.constantFrom<EventKind>('custom', 'custom', 'purchase', 'discount');
const count = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(55, 120, 260, 700) },
);
const steppedMs = fc.oneof(
  fc.integer({ min: -3_000, max: 3_000 }),
  fc.integer({ min: -7_200_000, max: 7_200_000 }),
);

const each = <T>(arbitrary: fc.Arbitrary<T>) => fc.tuple(arbitrary, old);
const tick = (ms: fc.Arbitrary<number>) =>
  each(fc.tuple(ms, fault)).map(([[passedMs, fault], back]) =>
    command(`pass ${passedMs} ms and seal with fault: ${fault}`, back, (system) => {
      system.pass(passedMs);
      return system.seal(fault);
    }),
  );

const steps = fc.commands(
  [
    each(fc.tuple(stream, kind, count, fc.boolean())).map(
      ([[streamId, kind, n, isRetried], back]) =>
        command(
          `${n} × ${kind} in ${streamId}${isRetried ? ', sent twice' : ''}`,
          back,
          async (system) => {
            for (let left = n; left > 0; left--) await system.produce(streamId, kind, isRetried);
          },
        ),
    ),
    each(fc.tuple(stream, fc.integer({ min: 1, max: 9 }))).map(([[streamId, n], back]) =>
      command(`${n} hearts in ${streamId}`, back, (system) => system.sendHearts(streamId, n)),
    ),
    tick(fc.integer({ min: 0, max: 600 })),
    tick(fc.integer({ min: 250, max: 300 })),
    tick(fc.oneof(fc.integer({ min: 5_000, max: 10_000 }), fc.integer({ min: 1, max: 90_000 }))),
    each(fc.tuple(stream, fc.integer({ min: 1, max: 4 }))).map(([[streamId, ahead], back]) =>
      command(`wait for ${ahead} ahead in ${streamId}`, back, (system) =>
        system.waitAhead(streamId, ahead),
      ),
    ),
    each(steppedMs).map(([ms, back]) =>
      command(`step the system clock by ${ms} ms`, back, (system) => system.step(ms)),
    ),
    each(fc.nat(3)).map(([n, back]) =>
      command(`audience of ${n}`, back, (system) => system.setAudience(n)),
    ),
    each(steppedMs).map(([ms, back]) =>
      command(`restart, with the system clock stepped by ${ms} ms`, back, (system) => {
        system.step(ms);
        return system.restart();
      }),
    ),
  ],
  { maxCommands: 60, size: 'max' },
);

test(
  '[I-1] [I-2] [F-11 – F-16] each interval stays as served and each event is in one, whatever fails, restarts or steps the clock',
  async () => {
    const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
    console.log(`sealing model: MODEL_SEED=${seed}`);
    let runs = 0;
    let served = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const system = await ModelSystem.open();
        try {
          await fc.asyncModelRun(() => ({ model: system.model, real: system }), commands);
          await system.end();
          runs += 1;
          served += system.model.servedIntervals().length;
        } finally {
          await system.close();
        }
      }),
      { seed, numRuns: rounds(100, 200), interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    console.log(`sealing model: ${runs} sequences, ${served} intervals served`);
    expect(runs).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS * 3,
);

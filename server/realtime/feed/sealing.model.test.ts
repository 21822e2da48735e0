import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Kind, PlainFeed } from '../../../test/support/feed/feed-model.ts';
import {
  type Fate,
  ModelSystem,
  STREAMS,
} from '../../../test/support/feed/sealing-model-system.ts';

// A service of two streams that seals, fails, loses answers of its record, restarts and has its
// system clock stepped, in any order. A plain model says what every interval must hold, and a reader
// that has seen them all asks for each again after every step.

const TIME_LIMIT_MS = 15_000;

/** A step, after which the reader looks at everything; `old` chooses an interval of long ago. */
function command(
  text: string,
  old: number,
  run: (world: ModelSystem) => unknown,
): fc.AsyncCommand<PlainFeed, ModelSystem> {
  return {
    check: () => true,
    toString: () => text,
    run: async (_, world) => {
      await run(world);
      await world.look(old);
    },
  };
}

const stream = fc.constantFrom(...STREAMS);
const old = fc.oneof(fc.nat(60), fc.nat(600));
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('works') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Fate>(
      'fails',
      'loses its answer',
      'loses its answer, then cannot be read',
    ),
  },
);
const kind = fc.constantFrom<Kind>('custom', 'custom', 'purchase', 'discount');
const count = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(55, 120, 260) },
);
const steppedMs = fc.oneof(
  fc.integer({ min: -3_000, max: 3_000 }),
  fc.integer({ min: -7_200_000, max: 7_200_000 }),
);

const each = <T>(arbitrary: fc.Arbitrary<T>) => fc.tuple(arbitrary, old);
const tick = (ms: fc.Arbitrary<number>) =>
  each(fc.tuple(ms, fate)).map(([[passed, how], back]) =>
    command(`pass ${passed} ms and seal, which ${how}`, back, (world) => {
      world.pass(passed);
      return world.seal(how);
    }),
  );

const steps = fc.commands(
  [
    each(fc.tuple(stream, kind, count, fc.boolean())).map(([[to, what, n, isRetried], back]) =>
      command(`${n} × ${what} in ${to}${isRetried ? ', sent twice' : ''}`, back, async (world) => {
        for (let left = n; left > 0; left--) await world.produce(to, what, isRetried);
      }),
    ),
    each(fc.tuple(stream, fc.integer({ min: 1, max: 9 }))).map(([[to, n], back]) =>
      command(`${n} hearts in ${to}`, back, (world) => world.cheer(to, n)),
    ),
    tick(fc.integer({ min: 0, max: 600 })),
    tick(fc.integer({ min: 250, max: 300 })),
    tick(fc.oneof(fc.integer({ min: 5_000, max: 10_000 }), fc.integer({ min: 1, max: 90_000 }))),
    each(fc.tuple(stream, fc.integer({ min: 1, max: 4 }))).map(([[to, ahead], back]) =>
      command(`hold ${ahead} ahead in ${to}`, back, (world) => world.hold(to, ahead)),
    ),
    each(steppedMs).map(([ms, back]) =>
      command(`step the system clock by ${ms} ms`, back, (world) => world.step(ms)),
    ),
    each(fc.nat(3)).map(([n, back]) =>
      command(`audience of ${n}`, back, (world) => world.gather(n)),
    ),
    each(steppedMs).map(([ms, back]) =>
      command(`restart, with the system clock stepped by ${ms} ms`, back, (world) => {
        world.step(ms);
        return world.restart();
      }),
    ),
  ],
  { maxCommands: 60, size: 'max' },
);

test(
  '[I-1] [I-2] [F-11 – F-16] whatever fails, is lost, restarts or steps the clock: every interval stays as it was served, and every event is in one',
  async () => {
    const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
    console.log(`sealing model: MODEL_SEED=${seed}`);
    let runs = 0;
    let served = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const world = await ModelSystem.open();
        try {
          await fc.asyncModelRun(() => ({ model: world.plain, real: world }), commands);
          await world.end();
          runs += 1;
          served += world.plain.allServed().length;
        } finally {
          await world.close();
        }
      }),
      { seed, numRuns: 200, interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    console.log(`sealing model: ${runs} sequences, ${served} intervals served`);
    expect(runs).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS * 3,
);

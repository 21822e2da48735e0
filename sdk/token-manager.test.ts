import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { TokenManager } from './token-manager.ts';

const IAT_S = 1_760_000_000;

/** As the service makes them: good for 10 minutes (SPEC T-6). */
function jwt(number: number, lifeS = 600): string {
  const claims = { sub: `token ${number}`, iat: IAT_S, exp: IAT_S + lifeS };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

/** A keeper, and the numbers of the tokens it asked for with the moment, in ms since the start. */
function begin(bring: (number: number) => Promise<string> | string = (number) => jwt(number)) {
  const machine = new FakeMachine();
  const fromMs = machine.nowMs;
  const asked: number[] = [];
  const keeper = new TokenManager(machine.environment, async () => {
    asked.push(Math.round(machine.nowMs - fromMs));
    return bring(asked.length);
  });
  return { machine, keeper, asked };
}

const away = () => Promise.reject(new FourbeatError('unavailable', 'the service is away'));

function troubleOf(promise: Promise<unknown>): Promise<FourbeatError> {
  return promise.then(
    () => expect.unreachable('it should have failed'),
    (error) => error,
  );
}

describe('[T-1] a token', () => {
  test('is asked for once by all who need one', async () => {
    const { keeper, asked } = begin();
    const tokens = await Promise.all([keeper.get(), keeper.get(), keeper.get()]);
    expect(new Set([...tokens, await keeper.get()])).toEqual(new Set([jwt(1)]));
    expect(asked).toHaveLength(1);
  });

  test('is asked for when somebody needs one, and not before', async () => {
    const { machine, asked } = begin();
    await machine.advance(60_000);
    expect(asked).toEqual([]);
  });
});

describe('[T-6] a token is renewed', () => {
  test.each([
    [0, 450_000],
    [0.5, 480_000],
    [1, 510_000],
  ])('at 75 to 85 %% of its life: with chance %d after %d ms', async (chance, dueMs) => {
    const machine = new FakeMachine({ random: () => chance });
    let asked = 0;
    const keeper = new TokenManager(machine.environment, async () => jwt(++asked));
    await keeper.get();
    await machine.advance(dueMs - 1);
    expect(asked).toBe(1);
    await machine.advance(2);
    expect(asked).toBe(2);
    expect(await keeper.get()).toBe(jwt(2));
  });

  test('and the old one is used while the new one comes', async () => {
    let come = (_: string) => {};
    const slow = new Promise<string>((resolve) => {
      come = resolve;
    });
    const { machine, keeper, asked } = begin((number) => (number === 1 ? jwt(1) : slow));
    await keeper.get();
    await machine.advance(485_000);
    expect(asked).toHaveLength(2);
    expect(await keeper.get()).toBe(jwt(1));
    come(jwt(2));
    await machine.settle();
    expect(await keeper.get()).toBe(jwt(2));
  });

  test('again when that failed, less and less often, while the old one is used', async () => {
    let isAway = false;
    const { machine, keeper, asked } = begin((number) => (isAway ? away() : jwt(number)));
    await keeper.get();
    isAway = true;
    await machine.advance(490_000);
    expect(asked.slice(0, 5)).toEqual([0, 480_000, 480_375, 481_125, 482_625]);
    expect(await keeper.get()).toBe(jwt(1));
    isAway = false;
    await machine.advance(15_000);
    expect(await keeper.get()).toBe(jwt(asked.length));
    expect(asked.length).toBeGreaterThan(5);
  });

  test('before it is used, when it expired on the way', async () => {
    const { machine, keeper, asked } = begin();
    await keeper.get();
    await machine.sleep(601_000, true);
    expect(await keeper.get()).toBe(jwt(2));
    expect(asked).toHaveLength(2);
  });

  test('by all together after a sleep', async () => {
    let come = (_: string) => {};
    const { machine, keeper, asked } = begin((number) =>
      number === 1
        ? jwt(1)
        : new Promise((resolve) => {
            come = resolve;
          }),
    );
    await keeper.get();
    await machine.sleep(3_600_000, true);
    const tokens = [keeper.get(), keeper.get()];
    await machine.settle();
    come(jwt(2));
    expect(await Promise.all(tokens)).toEqual([jwt(2), jwt(2)]);
    expect(asked).toHaveLength(2);
  });

  test('never, when it is no JWT: it is kept until it is refused', async () => {
    const { machine, keeper, asked } = begin((number) => `opaque.${number}`);
    await keeper.get();
    await machine.advance(86_400_000);
    expect(machine.pendingTimers).toBe(0);
    expect(await keeper.get()).toBe('opaque.1');
    keeper.reject('opaque.1');
    expect(await keeper.get()).toBe('opaque.2');
    expect(asked).toHaveLength(2);
  });

  test('in its time, when it is good for longer than timers can count', async () => {
    const { machine, keeper, asked } = begin((number) => jwt(number, 10 * 365 * 86_400));
    await keeper.get();
    await machine.advance(60_000);
    expect(asked).toHaveLength(1);
    expect(machine.pendingTimers).toBe(1);
  });
});

describe('[T-12] a token that is refused', () => {
  test('is not used again, and all who had it get one new one', async () => {
    const { keeper, asked } = begin();
    await keeper.get();
    for (let api = 0; api < 3; api++) keeper.reject(jwt(1));
    expect(await Promise.all([keeper.get(), keeper.get()])).toEqual([jwt(2), jwt(2)]);
    keeper.reject(jwt(1));
    expect(await keeper.get()).toBe(jwt(2));
    expect(asked).toHaveLength(2);
  });

  test('while it is renewed: the new one is waited for', async () => {
    let come = (_: string) => {};
    const slow = new Promise<string>((resolve) => {
      come = resolve;
    });
    const { machine, keeper, asked } = begin((number) => (number === 1 ? jwt(1) : slow));
    await keeper.get();
    await machine.advance(480_000);
    keeper.reject(jwt(1));
    const token = keeper.get();
    come(jwt(2));
    expect(await token).toBe(jwt(2));
    expect(asked).toHaveLength(2);
  });

  test('and that the app brings once more is `denied`', async () => {
    const { machine, keeper } = begin((number) => (number < 3 ? 'same' : 'other'));
    await keeper.get();
    keeper.reject('same');
    expect((await troubleOf(keeper.get())).kind).toBe('denied');
    await machine.advance(1_000);
    expect(await keeper.get()).toBe('other');
  });

  test('as each before it: new ones are asked for less and less often', async () => {
    const { machine, keeper, asked } = begin();
    for (let tries = 0; tries < 600; tries++) {
      await keeper.get().then(
        (token) => keeper.reject(token),
        (error) => expect(error.kind).toBe('denied'),
      );
      await machine.advance(100);
    }
    // 0, and at once the second; then after 0.375, 0.75, 1.5, 3, 6, 11.25 s, …
    expect(asked.length).toBeGreaterThan(6);
    expect(asked.length).toBeLessThan(12);
  });

  test('now and then is replaced at once each time', async () => {
    const { machine, keeper } = begin();
    for (let day = 1; day < 10; day++) {
      expect(await keeper.get()).toBe(jwt(day));
      await machine.advance(61_000);
      keeper.reject(jwt(day));
    }
  });
});

describe('a token that cannot be had', () => {
  test('is not asked for again until the back-off is over, whoever needs it', async () => {
    const { machine, keeper, asked } = begin(away);
    const first = await troubleOf(keeper.get());
    expect(first.kind).toBe('unavailable');
    expect(await troubleOf(keeper.get())).toBe(first);
    await machine.advance(374);
    expect(await troubleOf(keeper.get())).toBe(first);
    expect(asked).toHaveLength(1);
    await machine.advance(2);
    await troubleOf(keeper.get());
    expect(asked).toHaveLength(2);
  });

  test('is asked for patiently anew, once one could be had', async () => {
    const { machine, keeper, asked } = begin((number) => (number % 4 ? away() : jwt(number)));
    while (asked.length < 4) {
      await keeper.get().catch(() => {});
      await machine.advance(100);
    }
    await machine.advance(600_000);
    const gaps = asked.slice(1).map((ms, at) => ms - (asked[at] as number));
    expect(gaps.slice(3, 7)).toEqual([480_000, 375, 750, 1_500]);
  });

  test('[G-27] nor before the Retry-After of the service', async () => {
    const busy = new FourbeatError('busy', 'too many', 429, 7_000);
    const { machine, keeper, asked } = begin((number) =>
      number === 1 ? Promise.reject(busy) : jwt(number),
    );
    await troubleOf(keeper.get());
    await machine.advance(7_000);
    expect(await troubleOf(keeper.get())).toBe(busy);
    await machine.advance(500);
    expect(await keeper.get()).toBe(jwt(2));
    expect(asked).toHaveLength(2);
  });

  test('because the app’s own function never answers is `away` after 10 s, and is asked for again', async () => {
    const { machine, keeper, asked } = begin((number) =>
      number === 1 ? new Promise(() => {}) : jwt(number),
    );
    const coming = troubleOf(keeper.get());
    await machine.advance(10_000);
    expect((await coming).kind).toBe('unavailable');
    await machine.advance(500);
    expect(await keeper.get()).toBe(jwt(2));
    expect(asked).toHaveLength(2);
  });

  test('though the old one is refused meanwhile, is `away` as well', async () => {
    const { machine, keeper } = begin((number) => (number > 1 ? new Promise(() => {}) : jwt(1)));
    await keeper.get();
    await machine.advance(480_000);
    keeper.reject(jwt(1));
    const coming = troubleOf(keeper.get());
    await machine.advance(10_000);
    expect((await coming).kind).toBe('unavailable');
  });

  test('because the app’s own function fails is `away`, and says what it said', async () => {
    const cause = new Error('no session');
    const { keeper } = begin(() => Promise.reject(cause));
    const error = await troubleOf(keeper.get());
    expect(error).toBeInstanceOf(FourbeatError);
    expect(error.kind).toBe('unavailable');
    expect(error.message).toBe('getToken: Error: no session');
    expect(error.cause).toBe(cause);
  });

  test.each([undefined, null, 42, {}])(
    'because the app’s own function brings %p',
    async (token) => {
      const { keeper } = begin(async () => token as unknown as string);
      const { message } = await troubleOf(keeper.get());
      expect(message).toStartWith('getToken: ');
    },
  );

  test('because the viewer has left is `left`, and nothing waits any more', async () => {
    const { machine, keeper } = begin();
    await keeper.get();
    keeper.stop();
    expect((await troubleOf(keeper.get())).kind).toBe('left');
    expect(machine.pendingTimers).toBe(0);
  });

  test('because the viewer has left while it came is `left`, and leaves nothing behind', async () => {
    const { machine, keeper } = begin();
    const coming = troubleOf(keeper.get());
    keeper.stop();
    expect((await coming).kind).toBe('left');
    expect(machine.pendingTimers).toBe(0);
  });
});

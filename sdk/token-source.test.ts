import { describe, expect, test } from 'bun:test';
import { rejectionOf } from '../test/support/sdk/api-client-fixture.ts';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { TokenSource } from './token-source.ts';

const IAT_S = 1_760_000_000;

/** A JWT like those of the service, which are valid for 10 minutes (SPEC T-6). */
function jwt(number: number, lifeS = 600): string {
  const claims = { sub: `token ${number}`, iat: IAT_S, exp: IAT_S + lifeS };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

/** A token source, and the times of its token requests, ms since the start. */
function createSource(
  respond: (number: number) => Promise<string> | string = (number) => jwt(number),
) {
  const machine = new FakeMachine();
  const startMs = machine.nowMs;
  const requestedMs: number[] = [];
  const source = new TokenSource(machine.environment, async () => {
    requestedMs.push(Math.round(machine.nowMs - startMs));
    return respond(requestedMs.length);
  });
  return { machine, source, requestedMs };
}

const unavailable = () =>
  Promise.reject(new FourbeatError('unavailable', 'the service is unavailable'));

describe('[T-1] a token', () => {
  test('is requested once for concurrent callers', async () => {
    const { source, requestedMs } = createSource();
    const tokens = await Promise.all([source.get(), source.get(), source.get()]);
    expect(new Set([...tokens, await source.get()])).toEqual(new Set([jwt(1)]));
    expect(requestedMs).toHaveLength(1);
  });

  test('is requested when it is needed, not before', async () => {
    const { machine, requestedMs } = createSource();
    await machine.advance(60_000);
    expect(requestedMs).toEqual([]);
  });
});

describe('[T-6] a token is renewed', () => {
  test.each([
    [0, 450_000],
    [0.5, 480_000],
    [1, 510_000],
  ])('at 75 to 85 %% of its lifetime: with random %d after %d ms', async (random, dueMs) => {
    const machine = new FakeMachine({ random: () => random });
    let requestCount = 0;
    const source = new TokenSource(machine.environment, async () => jwt(++requestCount));
    await source.get();
    await machine.advance(dueMs - 1);
    expect(requestCount).toBe(1);
    await machine.advance(2);
    expect(requestCount).toBe(2);
    expect(await source.get()).toBe(jwt(2));
  });

  test('and the old one is used meanwhile', async () => {
    const renewal = Promise.withResolvers<string>();
    const { machine, source, requestedMs } = createSource((number) =>
      number === 1 ? jwt(1) : renewal.promise,
    );
    await source.get();
    await machine.advance(485_000);
    expect(requestedMs).toHaveLength(2);
    expect(await source.get()).toBe(jwt(1));
    renewal.resolve(jwt(2));
    await machine.settle();
    expect(await source.get()).toBe(jwt(2));
  });

  test('with backoff after a failure, while the old one is used', async () => {
    let shouldFail = false;
    const { machine, source, requestedMs } = createSource((number) =>
      shouldFail ? unavailable() : jwt(number),
    );
    await source.get();
    shouldFail = true;
    await machine.advance(490_000);
    expect(requestedMs.slice(0, 5)).toEqual([0, 480_000, 480_375, 481_125, 482_625]);
    expect(await source.get()).toBe(jwt(1));
    shouldFail = false;
    await machine.advance(15_000);
    expect(await source.get()).toBe(jwt(requestedMs.length));
    expect(requestedMs.length).toBeGreaterThan(5);
  });

  test('before it is used, when it expired during a sleep', async () => {
    const { machine, source, requestedMs } = createSource();
    await source.get();
    await machine.sleep(601_000, true);
    expect(await source.get()).toBe(jwt(2));
    expect(requestedMs).toHaveLength(2);
  });

  test('by one request for all callers after a sleep', async () => {
    const renewal = Promise.withResolvers<string>();
    const { machine, source, requestedMs } = createSource((number) =>
      number === 1 ? jwt(1) : renewal.promise,
    );
    await source.get();
    await machine.sleep(3_600_000, true);
    const tokens = [source.get(), source.get()];
    await machine.settle();
    renewal.resolve(jwt(2));
    expect(await Promise.all(tokens)).toEqual([jwt(2), jwt(2)]);
    expect(requestedMs).toHaveLength(2);
  });

  test('never when it is not a JWT: it is used until it is rejected', async () => {
    const { machine, source, requestedMs } = createSource((number) => `opaque.${number}`);
    await source.get();
    await machine.advance(86_400_000);
    expect(machine.pendingTimers).toBe(0);
    expect(await source.get()).toBe('opaque.1');
    source.reject('opaque.1');
    expect(await source.get()).toBe('opaque.2');
    expect(requestedMs).toHaveLength(2);
  });

  test('[T-6] not in a loop when its lifetime is below a second', async () => {
    const { machine, source, requestedMs } = createSource((number) => jwt(number, 0.001));
    await source.get();
    await machine.advance(60_000);
    expect(requestedMs).toHaveLength(1);
    source.reject(await source.get());
    await source.get();
    expect(requestedMs).toHaveLength(2);
  });

  test('not early when its lifetime is longer than the maximum of timers', async () => {
    const { machine, source, requestedMs } = createSource((number) =>
      jwt(number, 10 * 365 * 86_400),
    );
    await source.get();
    await machine.advance(60_000);
    expect(requestedMs).toHaveLength(1);
    expect(machine.pendingTimers).toBe(1);
  });
});

describe('[T-12] a rejected token', () => {
  test('is not used again, and concurrent callers get one new one', async () => {
    const { source, requestedMs } = createSource();
    await source.get();
    for (let call = 0; call < 3; call++) source.reject(jwt(1));
    expect(await Promise.all([source.get(), source.get()])).toEqual([jwt(2), jwt(2)]);
    source.reject(jwt(1));
    expect(await source.get()).toBe(jwt(2));
    expect(requestedMs).toHaveLength(2);
  });

  test('is replaced by the pending renewal', async () => {
    const renewal = Promise.withResolvers<string>();
    const { machine, source, requestedMs } = createSource((number) =>
      number === 1 ? jwt(1) : renewal.promise,
    );
    await source.get();
    await machine.advance(480_000);
    source.reject(jwt(1));
    const token = source.get();
    renewal.resolve(jwt(2));
    expect(await token).toBe(jwt(2));
    expect(requestedMs).toHaveLength(2);
  });

  test('that the app returns once more is `denied`', async () => {
    const { machine, source } = createSource((number) => (number < 3 ? 'same' : 'other'));
    await source.get();
    source.reject('same');
    expect((await rejectionOf(source.get())).kind).toBe('denied');
    await machine.advance(1_000);
    expect(await source.get()).toBe('other');
  });

  test('after other rejected tokens is replaced less and less often', async () => {
    const { machine, source, requestedMs } = createSource();
    for (let attempts = 0; attempts < 600; attempts++) {
      await source.get().then(
        (token) => source.reject(token),
        (error) => expect(error.kind).toBe('denied'),
      );
      await machine.advance(100);
    }
    // The second at once, then after 0.375, 0.75, 1.5, 3, 6, 11.25 s, …
    expect(requestedMs.length).toBeGreaterThan(6);
    expect(requestedMs.length).toBeLessThan(12);
  });

  test('that is rejected rarely is replaced at once each time', async () => {
    const { machine, source } = createSource();
    for (let number = 1; number < 10; number++) {
      expect(await source.get()).toBe(jwt(number));
      await machine.advance(61_000);
      source.reject(jwt(number));
    }
  });
});

describe('a failed token request', () => {
  test('is not repeated during its backoff, even for another caller', async () => {
    const { machine, source, requestedMs } = createSource(unavailable);
    const first = await rejectionOf(source.get());
    expect(first.kind).toBe('unavailable');
    expect(await rejectionOf(source.get())).toBe(first);
    await machine.advance(374);
    expect(await rejectionOf(source.get())).toBe(first);
    expect(requestedMs).toHaveLength(1);
    await machine.advance(2);
    await rejectionOf(source.get());
    expect(requestedMs).toHaveLength(2);
  });

  test('starts its backoff anew after a success', async () => {
    const { machine, source, requestedMs } = createSource((number) =>
      number % 4 ? unavailable() : jwt(number),
    );
    while (requestedMs.length < 4) {
      await source.get().catch(() => {});
      await machine.advance(100);
    }
    await machine.advance(600_000);
    const gaps = requestedMs.slice(1).map((ms, at) => ms - (requestedMs[at] as number));
    expect(gaps.slice(3, 7)).toEqual([480_000, 375, 750, 1_500]);
  });

  test('[G-27] is not repeated before the Retry-After of the service', async () => {
    const busy = new FourbeatError('busy', 'too many', 429, 7_000);
    const { machine, source, requestedMs } = createSource((number) =>
      number === 1 ? Promise.reject(busy) : jwt(number),
    );
    await rejectionOf(source.get());
    await machine.advance(7_000);
    expect(await rejectionOf(source.get())).toBe(busy);
    await machine.advance(500);
    expect(await source.get()).toBe(jwt(2));
    expect(requestedMs).toHaveLength(2);
  });

  test('is `unavailable` after 10 s when `getToken` never settles, and is repeated', async () => {
    const { machine, source, requestedMs } = createSource((number) =>
      number === 1 ? new Promise(() => {}) : jwt(number),
    );
    const pending = rejectionOf(source.get());
    await machine.advance(10_000);
    expect((await pending).kind).toBe('unavailable');
    await machine.advance(500);
    expect(await source.get()).toBe(jwt(2));
    expect(requestedMs).toHaveLength(2);
  });

  test('is `unavailable` after 10 s also when the old token is rejected meanwhile', async () => {
    const { machine, source } = createSource((number) =>
      number > 1 ? new Promise(() => {}) : jwt(1),
    );
    await source.get();
    await machine.advance(480_000);
    source.reject(jwt(1));
    const pending = rejectionOf(source.get());
    await machine.advance(10_000);
    expect((await pending).kind).toBe('unavailable');
  });

  test('is `unavailable` when `getToken` rejects, with its message and cause', async () => {
    const cause = new Error('no session');
    const { source } = createSource(() => Promise.reject(cause));
    const error = await rejectionOf(source.get());
    expect(error).toBeInstanceOf(FourbeatError);
    expect(error.kind).toBe('unavailable');
    expect(error.message).toBe('getToken: Error: no session');
    expect(error.cause).toBe(cause);
  });

  test.each([undefined, null, 42, {}])('is an error when `getToken` returns %p', async (token) => {
    const { source } = createSource(async () => token as unknown as string);
    const { message } = await rejectionOf(source.get());
    expect(message).toStartWith('getToken: ');
  });

  test('is `left` after `stop`, without timers', async () => {
    const { machine, source } = createSource();
    await source.get();
    source.stop();
    expect((await rejectionOf(source.get())).kind).toBe('left');
    expect(machine.pendingTimers).toBe(0);
  });

  test('is `left` when stopped while pending, without timers', async () => {
    const { machine, source } = createSource();
    const pending = rejectionOf(source.get());
    source.stop();
    expect((await pending).kind).toBe('left');
    expect(machine.pendingTimers).toBe(0);
  });
});

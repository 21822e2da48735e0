import { expect, spyOn, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { Passwords } from './passwords.ts';

const passwords = new Passwords();
const CLIENT = { isKnown: false, group: 'group' };

test('[U-11] a password hash is argon2id with 19 MiB and two passes, salted each time', async () => {
  const [first, second] = [
    await passwords.hash('correct horse', CLIENT),
    await passwords.hash('correct horse', CLIENT),
  ];
  expect(first).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(first).not.toBe(second);
  expect(await passwords.verify('correct horse', first, CLIENT)).toBe(true);
  expect(await passwords.verify('correct horsE', first, CLIENT)).toBe(false);
  expect(passwords.isOutdated(first)).toBe(false);
});

test('[U-11] every character of a long password counts', async () => {
  const long = '🐎'.repeat(199);
  const hash = await passwords.hash(`${long}a`, CLIENT);
  expect(await passwords.verify(`${long}a`, hash, CLIENT)).toBe(true);
  expect(await passwords.verify(`${long}b`, hash, CLIENT)).toBe(false);
});

test('[U-11] a hash of another cost still verifies and is outdated', async () => {
  const cheap = await Bun.password.hash('correct horse', {
    algorithm: 'argon2id',
    memoryCost: 8_192,
    timeCost: 1,
  });
  expect(await passwords.verify('correct horse', cheap, CLIENT)).toBe(true);
  expect(passwords.isOutdated(cheap)).toBe(true);
});

test('[U-2] verification without a hash fails after a comparison of the same cost', async () => {
  const verify = spyOn(Bun.password, 'verify');
  try {
    const hash = await passwords.hash('correct horse', CLIENT);
    expect(await passwords.verify('anything', null, CLIENT)).toBe(false);
    const compared = String(verify.mock.calls[0]?.[1]);
    const parameters = (text: string) => text.replace(/[^$]+\$[^$]+$/, '');
    expect(parameters(compared)).toBe(parameters(hash));
    expect(compared).toHaveLength(hash.length);
  } finally {
    verify.mockRestore();
  }
});

test('[U-11] known clients are queued and take turns with unknown ones, two at once, while these fill their queue', async () => {
  const running: { password: unknown; end: () => void }[] = [];
  const verify = spyOn(Bun.password, 'verify').mockImplementation((password) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    running.push({ password, end: () => resolve(true) });
    return promise;
  });
  try {
    const limited = new Passwords();
    const verifyFor = (isKnown: boolean, group: string) =>
      limited.verify(group, 'hash', { isKnown, group });
    const guesses = Array.from({ length: 34 }, (_, n) => verifyFor(false, `guess ${n + 1}`));
    const known = [verifyFor(true, 'device 1'), verifyFor(true, 'device 2')];
    expect(await verifyFor(false, 'guess 35').catch((error) => error)).toBeInstanceOf(Unavailable);
    const started: unknown[] = [];
    let most = 0;
    while (started.length < guesses.length + known.length) {
      most = Math.max(most, running.length);
      const { password, end } = running.shift() ?? { password: 'none', end: () => {} };
      started.push(password);
      end();
      await Bun.sleep(0);
    }
    expect(most).toBe(2);
    expect(started.slice(0, 5)).toEqual(['guess 1', 'guess 2', 'device 1', 'device 2', 'guess 3']);
    expect(await Promise.all([...guesses, ...known])).not.toContain(false);
  } finally {
    verify.mockRestore();
  }
});

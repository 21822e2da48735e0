import { expect, spyOn, test } from 'bun:test';
import { Passwords } from './passwords.ts';

const passwords = new Passwords();

test('[U-11] a password hash is argon2id with 19 MiB and two passes, salted each time', async () => {
  const [first, second] = [
    await passwords.hash('correct horse', 'group'),
    await passwords.hash('correct horse', 'group'),
  ];
  expect(first).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(first).not.toBe(second);
  expect(await passwords.verify('correct horse', first, 'group')).toBe(true);
  expect(await passwords.verify('correct horsE', first, 'group')).toBe(false);
  expect(passwords.isOutdated(first)).toBe(false);
});

test('[U-11] every character of a long password counts', async () => {
  const long = '🐎'.repeat(199);
  const hash = await passwords.hash(`${long}a`, 'group');
  expect(await passwords.verify(`${long}a`, hash, 'group')).toBe(true);
  expect(await passwords.verify(`${long}b`, hash, 'group')).toBe(false);
});

test('[U-11] a hash of another cost still verifies and is outdated', async () => {
  const cheap = await Bun.password.hash('correct horse', {
    algorithm: 'argon2id',
    memoryCost: 8_192,
    timeCost: 1,
  });
  expect(await passwords.verify('correct horse', cheap, 'group')).toBe(true);
  expect(passwords.isOutdated(cheap)).toBe(true);
});

test('[U-2] verification without a hash fails after a comparison of the same cost', async () => {
  const verify = spyOn(Bun.password, 'verify');
  try {
    const hash = await passwords.hash('correct horse', 'group');
    expect(await passwords.verify('anything', null, 'group')).toBe(false);
    const compared = String(verify.mock.calls[0]?.[1]);
    const parameters = (text: string) => text.replace(/[^$]+\$[^$]+$/, '');
    expect(parameters(compared)).toBe(parameters(hash));
    expect(compared).toHaveLength(hash.length);
  } finally {
    verify.mockRestore();
  }
});

import { describe, expect, test } from 'bun:test';
import { rateLimitKey } from '../../http/address.ts';
import { RateLimited } from '../../platform/errors.ts';
import { PasswordLimit } from './password-limit.ts';

const EMAIL = 'ada@example.org';

const of = (id: string, member = 'ada') => ({ id, member });

describe('PasswordLimit', () => {
  const limit = () => new PasswordLimit({ points: 3, durationS: 60 });
  const take = (passwords: PasswordLimit, client: string, times = 1, email = EMAIL) => {
    for (let n = 0; n < times; n++) passwords.take(client, email, 0);
  };

  test('[L-16] counts by client and email: a guesser locks nobody else out', () => {
    const passwords = limit();
    take(passwords, 'guesser', 3);
    expect(() => take(passwords, 'guesser')).toThrow(RateLimited);
    take(passwords, 'owner', 3);
    take(passwords, 'guesser', 3, 'bob@example.org');
    passwords.take('guesser', EMAIL, 60_000);
  });

  test('[L-16] counts an IPv6 client by its /48', () => {
    const passwords = limit();
    for (let n = 0; n < 3; n++) take(passwords, rateLimitKey(`2001:db8:aa:${n}::1`));
    expect(() => take(passwords, rateLimitKey('2001:db8:aa:3::1'))).toThrow(RateLimited);
    take(passwords, rateLimitKey('2001:db8:ab:3::1'));
  });

  test('[L-16] limits the attempts of all clients for an email to ten times as many', () => {
    const passwords = limit();
    for (let n = 0; n < 10; n++) take(passwords, `guesser ${n}`, 3);
    expect(() => take(passwords, 'another')).toThrow(RateLimited);
    take(passwords, 'another', 1, 'bob@example.org');
  });

  test('[L-16] counts known devices one by one, whatever others try', () => {
    const passwords = limit();
    for (let n = 0; n < 10; n++) take(passwords, `guesser ${n}`, 3);
    expect(() => take(passwords, 'another')).toThrow(RateLimited);
    for (const device of ['one', 'two']) {
      for (let n = 0; n < 3; n++) passwords.takeDevice(of(device), 0);
      expect(() => passwords.takeDevice(of(device), 0)).toThrow(RateLimited);
    }
  });

  test('[L-16] limits all known devices of a member too: each sign-in makes another one', () => {
    const passwords = limit();
    for (let n = 0; n < 10; n++) {
      for (let attempt = 0; attempt < 3; attempt++) passwords.takeDevice(of(`${n}`), 0);
    }
    expect(() => passwords.takeDevice(of('another'), 0)).toThrow(RateLimited);
    passwords.takeDevice(of('another', 'bob'), 0);
    passwords.takeMember('member', 0);
    take(passwords, 'unknown', 3);
  });
});

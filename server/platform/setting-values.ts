import { resolve } from 'node:path';
import { ROLES, type Role } from '../../protocol/operation.ts';
import type { RateLimit } from './rate-limit/rate-limiter.ts';
import { parseRedisUrl } from './redis-url.ts';

/** One setting: its flag, its variable, its line in the help and its row in docs/configuration.md. */
export interface Setting<Value> {
  /** How its value is called, as in `--port <number>`; null: a switch, on when it is named. */
  readonly value: string | null;
  readonly help: string;
  /** The default, as it would be written. */
  readonly default: string;
  /** What the default means, where the text alone does not say. */
  readonly defaultMeans?: string;
  /** Its value holds a password, and is never repeated. */
  readonly isSecret?: true;
  /** @throws Error that says what is wrong with the text, in a sentence of its own */
  readonly parse: (text: string) => Value;
}

// What each kind of setting takes. All throw an Error that says what is wrong with the text, in a
// sentence of its own.

export function rateLimit(text: string): RateLimit {
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text);
  if (!match) {
    throw new Error('It must be a number and seconds, such as 30/10 for 30 in 10 seconds.');
  }
  return { points: Number(match[1]), durationS: Number(match[2]) };
}

export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new Error(`It must be a whole number from ${least} to ${most}.`);
  };
}

export function boolean(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Error('It must be true or false.');
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new Error(`It must be one of ${choices.join(', ')}.`);
  };
}

export function roles(text: string): ReadonlySet<Role> {
  if (text === 'all') return new Set(ROLES);
  return new Set(text.split(',').map((name) => role(name.trim())));
}

function role(name: string): Role {
  const found = ROLES.find((known) => known === name);
  if (found !== undefined) return found;
  throw new Error(`It must be a list, with commas, of ${ROLES.join(', ')}; or all.`);
}

export function host(text: string): string {
  // A name or an address; an IPv6 address has colons. A port has a setting of its own.
  if (/^[A-Za-z0-9._:%-]+$/.test(text) && !/^[^:]*:\d*$/.test(text)) return text;
  throw new Error('It must be the name or the address of this machine, without a port, or *.');
}

export function directory(text: string): string {
  if (text.trim() === '' || text.includes('\0')) {
    throw new Error('It must be the path of a directory.');
  }
  return resolve(text);
}

export function baseUrl(text: string): string {
  const url = httpUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Error('It must be an http or https address, such as https://live.example.org.');
  }
  return url.href.replace(/\/+$/, '');
}

export function databaseUrl(text: string): string {
  if (/^postgres(?:ql)?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new Error('It must be an address such as postgres://user:password@host:5432/name.');
}

export function redisUrl(text: string): string {
  parseRedisUrl(text);
  return text;
}

export function origin(text: string): string {
  const url = httpUrl(text);
  if (url === null || url.origin !== text) {
    throw new Error('It must be an origin, such as https://live.example.org, or *.');
  }
  return text;
}

function httpUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null;
}

/** A port, 0 for any that is free, or null for `off`. */
export function portOrOff(text: string): number | null {
  if (text === 'off') return null;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 65_535) return value;
  throw new Error('It must be a port from 0 to 65535, or off.');
}

/** A name of ffmpeg's, such as that of an encoder; it becomes an argument, so no dash in front. */
export function word(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/.test(text)) return text;
  throw new Error('It must be one word.');
}

/** A program, by its name or path. */
export function program(text: string): string {
  if (text.trim() !== '' && !text.includes('\0')) return text;
  throw new Error('It must be the name or path of a program.');
}

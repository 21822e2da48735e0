import { resolve } from 'node:path';
import { ROLES, type Role } from '../../protocol/operation.ts';
import type { RateLimit } from './rate-limiter.ts';
import { parseRedisUrl } from './redis-url.ts';

/** A setting. Its flag, its variable, its help line and its row in docs/configuration.md come from it. */
export interface Setting<Value> {
  /** Placeholder of the value, as in `--port <number>`; null: a switch without a value. */
  readonly placeholder: string | null;
  readonly help: string;
  /** The default, as an operator would write it. */
  readonly default: string;
  /** Meaning of the default, where its text does not say it. */
  readonly defaultMeaning?: string;
  /** The value contains a password; it is never printed. */
  readonly isSecret?: true;
  /** @throws Error with a sentence for the operator */
  readonly parse: (text: string) => Value;
}

// Parsers by kind of value. Each throws an Error whose message is a sentence for the operator.

export function parseRateLimit(text: string): RateLimit {
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text);
  if (!match) {
    throw new Error('It must be a number and seconds, such as 30/10 for 30 in 10 seconds.');
  }
  return { points: Number(match[1]), durationS: Number(match[2]) };
}

export function parseInteger(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new Error(`It must be a whole number from ${min} to ${max}.`);
  };
}

const TOKEN = /^[\x21-\x7e]{16,256}$/;

/** A secret of the operator's own making. */
export function parseToken(text: string): string {
  if (TOKEN.test(text)) return text;
  throw new Error('It must be 16 to 256 letters, digits and signs, without spaces.');
}

export function parseBoolean(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Error('It must be true or false.');
}

export function parseOneOf<Choice extends string>(
  choices: readonly Choice[],
): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw new Error(`It must be one of ${choices.join(', ')}.`);
  };
}

export function parseRoles(text: string): ReadonlySet<Role> {
  if (text === 'all') return new Set(ROLES);
  return new Set(text.split(',').map((name) => parseRole(name.trim())));
}

function parseRole(name: string): Role {
  const role = ROLES.find((candidate) => candidate === name);
  if (role !== undefined) return role;
  throw new Error(`It must be all, or a comma-separated list of ${ROLES.join(', ')}.`);
}

export function parseHost(text: string): string {
  // A host name or an IP address (IPv6 has colons), but no `host:port`.
  if (/^[A-Za-z0-9._:%-]+$/.test(text) && !/^[^:]*:\d*$/.test(text)) return text;
  throw new Error('It must be a name or address of this machine, without a port, or *.');
}

export function parseDirectory(text: string): string {
  if (text.trim() === '' || text.includes('\0')) {
    throw new Error('It must be the path of a directory.');
  }
  return resolve(text);
}

export function parseBaseUrl(text: string): string {
  const url = parseHttpUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Error('It must be an http or https address, such as https://live.example.org.');
  }
  return url.href.replace(/\/+$/, '');
}

export function parseDatabaseUrl(text: string): string {
  if (/^postgres(?:ql)?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new Error('It must be an address such as postgres://user:password@host:5432/name.');
}

export function checkRedisUrl(text: string): string {
  parseRedisUrl(text);
  return text;
}

export function parseOrigin(text: string): string {
  const url = parseHttpUrl(text);
  if (url === null || url.origin !== text) {
    throw new Error('It must be an origin, such as https://live.example.org, or *.');
  }
  return text;
}

function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null;
}

/** A port, 0 for any free port, or null for `off`. */
export function parsePortOrOff(text: string): number | null {
  if (text === 'off') return null;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 65_535) return value;
  throw new Error('It must be a port from 0 to 65535, or off.');
}

/** A name in ffmpeg, such as an encoder. It becomes an argument, so it must not start with a dash. */
export function parseWord(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/.test(text)) return text;
  throw new Error('It must be one word, such as libx264.');
}

/** The name or path of a program. */
export function parseProgram(text: string): string {
  if (text.trim() !== '' && !text.includes('\0')) return text;
  throw new Error('It must be the name or path of a program.');
}

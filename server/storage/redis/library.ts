import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Functions for Redis, under names that carry their version. */
export interface Library {
  /** What FUNCTION LOAD takes. */
  readonly code: string;
  /** The name under which a function of the text is registered. */
  nameOf(functionName: string): string;
}

const VERSION_LENGTH = 12;

/**
 * Makes a text of functions a library whose name and whose functions' names end with the hash
 * of that text. Names of functions are unique in a server, and during a rolling upgrade nodes of two
 * releases use it: with one name for both, each would replace the other's library for ever. What a
 * release leaves behind is its text, some kilobytes.
 */
export function libraryOf(text: string): Library {
  const version = createHash('sha256').update(text).digest('hex').slice(0, VERSION_LENGTH);
  const nameOf = (functionName: string) => `${functionName}_${version}`;
  const code = [
    `#!lua name=${nameOf('fourbeat')}`,
    `local function define(name, callback) redis.register_function(name .. '_${version}', callback) end`,
    text,
  ].join('\n');
  return { code, nameOf };
}

const FOLDER = join(import.meta.dir, 'library');

/** The functions of this release: the texts of all files in `library/`. */
export function libraryText(): string {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.lua'));
  return files
    .sort()
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
    .join('\n');
}

/** The library of this release. */
export function readLibrary(): Library {
  return libraryOf(libraryText());
}

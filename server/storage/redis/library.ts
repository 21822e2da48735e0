import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A library of Redis functions; the names contain a version. */
export interface Library {
  /** The argument of FUNCTION LOAD. */
  readonly code: string;
  nameOf(functionName: string): string;
}

const VERSION_LENGTH = 12;

/**
 * Creates a library from Lua code; by default that of this release. The names of the library and its
 * functions end with a hash of the code: function names are unique in a server, and during a rolling
 * upgrade nodes of two releases would replace each other's library again and again. A release leaves
 * its code behind, some kilobytes.
 */
export function createLibrary(source: string = readLibrarySources()): Library {
  const version = createHash('sha256').update(source).digest('hex').slice(0, VERSION_LENGTH);
  const nameOf = (functionName: string) => `${functionName}_${version}`;
  const code = [
    `#!lua name=${nameOf('fourbeat')}`,
    `local function define(name, callback) redis.register_function(name .. '_${version}', callback) end`,
    source,
  ].join('\n');
  return { code, nameOf };
}

const FOLDER = join(import.meta.dir, 'library');

/** The Lua code of this release: all files in `library/`. */
export function readLibrarySources(): string {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.lua'));
  return files
    .sort()
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
    .join('\n');
}

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GUARDS } from './guards.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('every guard is where the comments say, once, and its test is in its file', () => {
  for (const { removals, file, title } of GUARDS) {
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
    for (const { file: source, line } of removals) {
      const found = readFileSync(join(ROOT, source), 'utf8').split(line).length - 1;
      expect({ source, line, found }).toEqual({ source, line, found: 1 });
    }
  }
});

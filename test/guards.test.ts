import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GUARDS } from './guards.ts';
import { PLANTED_BUGS } from './support/simulation/planted-bugs.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('each guard occurs once in its file, and its test exists', () => {
  for (const { removals, file, title, contract = file } of GUARDS) {
    const test = readFileSync(join(ROOT, contract), 'utf8');
    expect({ file, title, found: test.includes(title) }).toEqual({ file, title, found: true });
    for (const { file: source, text } of removals) {
      const found = readFileSync(join(ROOT, source), 'utf8').split(text).length - 1;
      expect({ source, text, found }).toEqual({ source, text, found: 1 });
    }
  }
});

test('each planted bug of the simulation changes a text that occurs once', () => {
  for (const { name, changes } of PLANTED_BUGS) {
    for (const { file, text } of changes) {
      const found = readFileSync(join(ROOT, file), 'utf8').split(text).length - 1;
      expect({ name, found }).toEqual({ name, found: 1 });
    }
  }
});

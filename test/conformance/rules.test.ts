import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import {
  GROUPS,
  quotedIn,
  referencesIn,
  rulesOf,
  sleepersIn,
} from '../support/conformance/spec-rules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Rules that no test can quote, with the reason. The aim is none. */
const UNTESTED: Readonly<Record<string, string>> = {};

async function read(pattern: string): Promise<Map<string, string>> {
  const paths = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }));
  const files = paths.sort().map(async (path) => {
    return [path, await Bun.file(`${ROOT}/${path}`).text()] as const;
  });
  return new Map(await Promise.all(files));
}

const spec = await Bun.file(`${ROOT}/SPEC.md`).text();
const rules = rulesOf(spec);
// A contract suite is run by the tests of each implementation.
const tests = await read('{protocol,server,sdk,player,studio,test}/**/*{.test,-contract}.{ts,tsx}');
const sources = await read('{protocol,server,sdk,player,studio,test}/**/*.{ts,tsx}');
// This one makes up ids to try its own eyes.
tests.delete('test/conformance/rules.test.ts');
sources.delete('test/conformance/rules.test.ts');

describe('SPEC.md', () => {
  test('has rules in every group, each id once', () => {
    expect(rules.length).toBeGreaterThan(200);
    expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([]);
    const groups = new Set(rules.map((id) => id[0]));
    expect([...groups].sort().join('')).toBe([...GROUPS].sort().join(''));
  });

  test.each([...GROUPS])('group %s: every rule is quoted by the title of a test', (group) => {
    const quoted = new Set([...tests.values()].flatMap(quotedIn));
    const unquoted = rules.filter((id) => id.startsWith(group) && !quoted.has(id));
    expect(unquoted.filter((id) => !(id in UNTESTED))).toEqual([]);
  });

  test('every rule that is said to be untested exists, and is untested', () => {
    const quoted = new Set([...tests.values()].flatMap(quotedIn));
    for (const [id, reason] of Object.entries(UNTESTED)) {
      expect(rules).toContain(id);
      expect(quoted.has(id)).toBe(false);
      expect(reason.length).toBeGreaterThan(20);
    }
  });

  test('refers to rules that exist, in its text and in the table of the interface', () => {
    expect(referencesIn(spec).filter((id) => !rules.includes(id))).toEqual([]);
  });

  test('the table names rules in every row, and covers every section of the interface', () => {
    const table = spec.slice(spec.indexOf('| Interface section |'));
    const rows = table
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(1);
    expect(rows.length).toBeGreaterThan(60);
    for (const row of rows) expect([row, referencesIn(row).length > 0]).toEqual([row, true]);
    const sections = rows.map((row) => row.split('|')[1]?.trim()).filter((name) => name);
    expect(sections).toEqual([
      'Introduction',
      'What the service does',
      'Stream',
      'Stream list page',
      'User',
      'Viewer token',
      'View count',
      'Quiz',
      'Events interval',
      'States and transitions',
      'Endpoints',
      'Authentication',
      'Events',
      'Errors',
      'Limits',
      'Versioning',
    ]);
  });
});

describe('the sources', () => {
  test('quote only rules that exist', () => {
    const unknown = [...sources].flatMap(([path, text]) =>
      referencesIn(text)
        .filter((id) => !rules.includes(id))
        .map((id) => `${path}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  test('have no test that is asleep', () => {
    const asleep = [...tests].flatMap(([path, text]) =>
      sleepersIn(text).map((call) => `${path}: ${call}`),
    );
    expect(asleep).toEqual([]);
  });
});

describe('these eyes see', () => {
  test('ids at the beginning of titles and rows, several at once', () => {
    const source = [
      "test('[V-3] a', () => {});",
      'test.each(ROWS)(`[S-1] [S-2] b`, () => {});',
      "  '[T-12] c',",
      'describe("[Q-1][Q-2] d", () => {});',
    ].join('\n');
    expect(quotedIn(source)).toEqual(['V-3', 'S-1', 'S-2', 'T-12', 'Q-1', 'Q-2']);
  });

  test('no ids in comments, later in a title, or of no group', () => {
    const source = [
      "// test('[V-3] a', () => {});",
      " * test('[V-4] a', () => {});",
      "test('a [V-5] b', () => {});",
      "test('[Z-1] a', () => {});",
      "test('V-6 a', () => {});",
    ].join('\n');
    expect(quotedIn(source)).toEqual([]);
  });

  test('references and ranges, but neither UTF-8 nor ISO-8601 nor dates', () => {
    expect(referencesIn('as V-1 – V-3 and (F-6), UTF-8, ISO-8601, F-1-2, AES-256')).toEqual([
      'V-1',
      'V-2',
      'V-3',
      'F-6',
    ]);
  });

  test('tests that are asleep', () => {
    expect(sleepersIn("test.skip('x'); it.todo('y'); describe.only('z'); test('a')")).toHaveLength(
      3,
    );
  });
});

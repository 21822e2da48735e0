import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import {
  disabledTestsIn,
  GROUPS,
  quotedRules,
  referencesIn,
  rulesOf,
} from '../support/conformance/spec-rules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Rules that no test can quote, with the reason. Aim for none. */
const UNTESTED: Readonly<Record<string, string>> = {};

async function read(pattern: string): Promise<Map<string, string>> {
  const paths = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }));
  const files = paths.sort().map(async (path) => {
    return [path, await Bun.file(`${ROOT}/${path}`).text()] as const;
  });
  return new Map(await Promise.all(files));
}

const spec = await Bun.file(`${ROOT}/SPEC.md`).text();
const interfaceCoverage = await Bun.file(`${ROOT}/docs/interface-coverage.md`).text();
const rules = rulesOf(spec);
// Contract suites run in the tests of each implementation.
const tests = await read(
  '{protocol,crowd,server,demo,sdk,player,studio,test}/**/*{.test,contract}.{ts,tsx}',
);
const sources = await read('{protocol,crowd,server,demo,sdk,player,studio,test}/**/*.{ts,tsx}');

describe('SPEC.md', () => {
  test('SPEC.md has rules in every group, each id once', () => {
    expect(rules.length).toBeGreaterThan(200);
    expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([]);
    const groups = new Set(rules.map((id) => id[0]));
    expect([...groups].sort().join('')).toBe([...GROUPS].sort().join(''));
  });

  test.each([...GROUPS])('group %s: every rule is quoted by the title of a test', (group) => {
    const quoted = new Set([...tests.values()].flatMap(quotedRules));
    const unquoted = rules.filter((id) => id.startsWith(group) && !quoted.has(id));
    expect(unquoted.filter((id) => !(id in UNTESTED))).toEqual([]);
  });

  test('every rule listed as untested exists and is untested', () => {
    const quoted = new Set([...tests.values()].flatMap(quotedRules));
    for (const [id, reason] of Object.entries(UNTESTED)) {
      expect(rules).toContain(id);
      expect(quoted.has(id)).toBe(false);
      expect(reason.length).toBeGreaterThan(20);
    }
  });

  test('SPEC.md and the coverage of the interface refer only to existing rules', () => {
    const coverage = `${spec}\n${interfaceCoverage}`;
    expect(referencesIn(coverage).filter((id) => !rules.includes(id))).toEqual([]);
  });
});

describe('the sources', () => {
  test('the sources quote only existing rules', () => {
    const unknown = [...sources].flatMap(([path, text]) =>
      referencesIn(text)
        .filter((id) => !rules.includes(id))
        .map((id) => `${path}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  test('the tests have no skipped or focused test', () => {
    const disabled = [...tests].flatMap(([path, text]) =>
      disabledTestsIn(text).map((call) => `${path}: ${call}`),
    );
    expect(disabled).toEqual([]);
  });
});

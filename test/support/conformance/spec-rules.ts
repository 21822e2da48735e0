/** Groups of rules, by the letter of their ids. */
export const GROUPS = 'GASTVQWFCKPUBHJDYMROLIN';

const RULE = /^- ([A-Z]-\d+): (.+)$/gm;
const ID = `[${GROUPS}]-\\d+`;
// "UTF-8" and "ISO-8601" are not rules.
const REFERENCE = new RegExp(`(?<![A-Za-z0-9-])(${ID})(?: – (${ID}))?(?![\\d-])`, 'g');
// The ids at the beginning of a string: a title, or a table row that becomes one.
const TITLE = new RegExp(`^[^/*\\n]*?['"\`]((?:\\[${ID}\\] ?)+)`, 'gm');

/** The ids of the rules of a SPEC in order, including duplicates. */
export function rulesOf(spec: string): string[] {
  return [...spec.matchAll(RULE)].map(([, id]) => id as string);
}

/** The ids of the rules that a text refers to; "V-1 – V-3" are all three. */
export function referencesIn(text: string): string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, from = '', to]) => {
    if (!to) return [from];
    const [group] = from.split('-');
    const [first, last] = [from, to].map((id) => Number(id.split('-')[1])) as [number, number];
    return Array.from({ length: last - first + 1 }, (_, i) => `${group}-${first + i}`);
  });
}

/** The ids that the titles of a test file quote, in brackets at their beginning. */
export function quotedRules(source: string): string[] {
  return [...source.matchAll(TITLE)].flatMap(([, ids = '']) => referencesIn(ids));
}

/** Modifiers that skip a test or focus on it. */
export function disabledTestsIn(source: string): string[] {
  return source.match(/\b(?:test|it|describe)\.(?:skip|todo|only|failing)\b/g) ?? [];
}

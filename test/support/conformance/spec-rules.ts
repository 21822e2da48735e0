/** Groups of rules, by the letter of their ids. */
export const GROUPS = 'GASTVQWFCKPUBHJDYMROLIN';

const RULE = /^- ([A-Z]-\d+): (.+)$/gm;
const ID = `[${GROUPS}]-\\d+`;
// "UTF-8" and "ISO-8601" are no rules.
const REFERENCE = new RegExp(`(?<![A-Za-z0-9-])(${ID})(?: – (${ID}))?(?![\\d-])`, 'g');
// The ids with which a string begins: a title, or a row of a table that becomes one.
const TITLE = new RegExp(`^[^/*\\n]*?['"\`]((?:\\[${ID}\\] ?)+)`, 'gm');

/** The ids of the rules of a SPEC, in its order, with repeats if there are any. */
export function rulesOf(spec: string): string[] {
  return [...spec.matchAll(RULE)].map(([, id]) => id as string);
}

/** The ids of rules that a text refers to; "V-1 – V-3" is all three. */
export function referencesIn(text: string): string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, from = '', to]) => {
    if (!to) return [from];
    const [group] = from.split('-');
    const [first, last] = [from, to].map((id) => Number(id.split('-')[1])) as [number, number];
    return Array.from({ length: last - first + 1 }, (_, i) => `${group}-${first + i}`);
  });
}

/** The ids that the titles of a test file quote, in brackets at their beginning. */
export function quotedIn(source: string): string[] {
  return [...source.matchAll(TITLE)].flatMap(([, ids = '']) => referencesIn(ids));
}

/** Tests that are there but do not run, or keep others from running. */
export function sleepersIn(source: string): string[] {
  return source.match(/\b(?:test|it|describe)\.(?:skip|todo|only|failing)\b/g) ?? [];
}

import { describe, expect, test } from 'bun:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { chartOf } from './chart.ts';
import type { Result } from './result.ts';

const spread = (median: number, least = median, most = median) => ({ median, least, most });

const RESULT: Result = {
  bench: 'feed',
  title: 'reads & more',
  rows: [
    { name: 'Fourbeat', isOurs: true, figures: { 'requests/s': spread(100, 90, 110) } },
    { name: 'a peer whose <name> is rather long', figures: { 'requests/s': spread(50) } },
    { name: 'no such figure', figures: {} },
  ],
  targets: [],
  notes: [],
};

function read(svg: string) {
  const parsed = new XMLParser({ ignoreAttributes: false, isArray: () => false }).parse(svg).svg;
  const [background, ...bars] = parsed.rect;
  return { background, bars, paths: [parsed.path].flat(), texts: parsed.text };
}

describe('the chart of a result', () => {
  const svg = chartOf(RESULT);
  const { bars, paths, texts, background } = read(svg);

  test('is valid SVG when a name contains markup characters', () => {
    expect(XMLValidator.validate(svg)).toBe(true);
    expect(texts.map((text: { '#text': string }) => text['#text'])).toContain(
      'a peer whose <name> is rather long',
    );
  });

  test('has a bar for each row with the first figure, in proportion, and another class for ours', () => {
    expect(bars).toHaveLength(2);
    const [own, other] = bars;
    expect(Number(own['@_width']) / Number(other['@_width'])).toBeCloseTo(2);
    expect(own['@_class']).not.toBe(other['@_class']);
  });

  test('has a line from minimum to maximum where they differ', () => {
    expect(paths).toHaveLength(1);
  });

  test('has room for the longest name and for the figures', () => {
    const [own] = bars;
    expect(Number(own['@_x'])).toBeGreaterThan(200);
    expect(Number(own['@_x']) + Number(own['@_width'])).toBeLessThan(Number(background['@_width']));
  });
});

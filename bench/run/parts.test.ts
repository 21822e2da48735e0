import { expect, test } from 'bun:test';
import { type PartialResult, runParts } from './parts.ts';

const partOf = (name: string): PartialResult => ({
  rows: [{ name, figures: {} }],
  targets: [],
  notes: [`about ${name}`],
});

test('runParts reports a part that fails in failures, and the results of the other parts', async () => {
  const measured: string[] = [];
  const measure = (name: string) => async () => {
    measured.push(name);
    if (name === 'memory') throw new Error('503 of 9,000');
    return partOf(name);
  };
  const result = await runParts(
    { bench: 'viewers', title: 'viewers' },
    { polling: measure('polling'), memory: measure('memory'), push: measure('push') },
  );
  expect(measured).toEqual(['polling', 'memory', 'push']);
  expect(result.rows.map(({ name }) => name)).toEqual(['polling', 'push']);
  expect(result.notes).toEqual(['about polling', 'about push']);
  expect(result.failures).toEqual(['memory: 503 of 9,000']);
});

import { afterAll } from 'bun:test';
import { openSimulations } from '../support/simulation/seed-run.ts';
import { testSeeds } from '../support/simulation/seed-tests.ts';

// In a file of their own, so that another core runs them beside those of `simulation.test.ts`.

const template = await openSimulations();
afterAll(() => template.close());

testSeeds(template, 1_001, 1_000);

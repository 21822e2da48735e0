import { afterAll } from 'bun:test';
import { type Harness, type HarnessOptions, startService } from '../harness/harness.ts';
import { HIGH_RATES } from './operations.ts';

/** Starts a service without rate limits for the calling test file, and stops it after the tests. */
export async function serviceOfFile(options: HarnessOptions = {}): Promise<Harness> {
  const harness = await startService({ config: { rates: HIGH_RATES }, ...options });
  afterAll(() => harness.close());
  return harness;
}

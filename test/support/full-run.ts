/**
 * Whether `npm run test:full` runs this test. It runs every `*.full.test.ts` file, and once more each
 * test file that imports this module, with more rounds.
 */
export const IS_FULL_RUN = Bun.env.TEST_FULL === '1';

/** The number of rounds of a test: few in `npm test`, all in `npm run test:full`. */
export function rounds(usual: number, full: number): number {
  return IS_FULL_RUN ? full : usual;
}

/**
 * The backends of tests whose outcome does not depend on them, such as those of malformed requests: the
 * embedded ones in `npm test`, both in `npm run test:full`.
 */
export const SOME_BACKENDS: readonly ('embedded' | 'shared')[] = IS_FULL_RUN
  ? ['embedded', 'shared']
  : ['embedded'];

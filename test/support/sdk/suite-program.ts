import { studioFixture } from './studio-fixture.ts';
import { runSuite, type SuiteFixture, type SuiteResult } from './suite.ts';

/**
 * Entry of the suite's bundle, for runtimes that cannot load its sources.
 * @param baseUrl a `*` is replaced by the number of the case: browsers open at most six connections
 *   to a host, and an event stream occupies one
 */
export function runOnService(
  sdk: Pick<SuiteFixture, 'join' | 'pictureOf'>,
  baseUrl: string,
  serviceToken: string,
): Promise<SuiteResult[]> {
  let cases = 0;
  return runSuite(() => {
    cases += 1;
    return studioFixture(sdk, baseUrl.replace('*', String(cases)), serviceToken);
  });
}

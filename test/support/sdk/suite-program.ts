import { studioFixture } from './studio-fixture.ts';
import { type Fixture, type Result, runSuite } from './suite.ts';

/**
 * What is bundled for runtimes that cannot read the suite as it is.
 * @param baseUrl a `*` in it is another number for each case: a browser opens six connections to a
 * host at most, and an event stream keeps one
 */
export function runOnService(
  sdk: Pick<Fixture, 'join' | 'pictureOf'>,
  baseUrl: string,
  serviceToken: string,
): Promise<Result[]> {
  let cases = 0;
  return runSuite(() => {
    cases += 1;
    return studioFixture(sdk, baseUrl.replace('*', String(cases)), serviceToken);
  });
}

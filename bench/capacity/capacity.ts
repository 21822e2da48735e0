import { MissingFigureError, RESULTS_FOLDER, readResults } from '../page/results.ts';
import { sourcesOf } from './costs.ts';
import { capacityLines } from './tables.ts';

// `npm run bench:capacity` prints the needs of shows, computed from the results in docs/performance.
// `npm run bench:capacity -- FOLDER` uses the results in another folder, such as bench-results.

const folder = process.argv[2] ?? RESULTS_FOLDER;
try {
  console.log(capacityLines(sourcesOf(readResults(folder))).join('\n'));
} catch (error) {
  if (!(error instanceof MissingFigureError)) throw error;
  console.error(`${folder}: ${error.message}`);
  process.exit(1);
}

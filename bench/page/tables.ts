import { fillPage } from './fill.ts';
import { MissingFigureError, RESULTS_FOLDER } from './results.ts';

// `npm run bench:tables` writes docs/performance/tables.md from the results beside it.

try {
  fillPage(RESULTS_FOLDER);
} catch (error) {
  if (!(error instanceof MissingFigureError)) throw error;
  console.error(`${RESULTS_FOLDER}: ${error.message}`);
  process.exit(1);
}

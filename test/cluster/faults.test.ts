import { testFaults } from '../support/cluster/fault-tests.ts';

// Each fault on three nodes under load. `npm test` causes each fault once, with one test for each
// fixture. `npm run test:full` has a test for each fault, with more rounds; `npm run faults` has all.

await testFaults('plain');

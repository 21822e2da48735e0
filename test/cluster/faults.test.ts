import { testFaults } from '../support/cluster/fault-tests.ts';

// Each fault on three nodes under load. `npm test` causes each once, those of a fixture in one show;
// `npm run test:full` gives each a show of its own with more rounds, and `npm run faults` all rounds.

await testFaults('plain', 'network', 'clocks');

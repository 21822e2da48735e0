import { testFaults } from '../support/cluster/fault-tests.ts';

// Faults of replicated Redis, on three nodes under load; see faults.test.ts.

await testFaults('replica', 'behind', 'sentinel');

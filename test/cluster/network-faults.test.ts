import { testFaults } from '../support/cluster/fault-tests.ts';

// As `faults.test.ts`, with faults of the network and of clocks.

await testFaults('network', 'clocks');

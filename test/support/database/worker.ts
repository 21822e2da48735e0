import { serveSqlite } from '../../../server/storage/sql/sqlite-worker.ts';
import { testProcedures } from './procedures.ts';

declare const self: Worker;

serveSqlite(self, testProcedures);

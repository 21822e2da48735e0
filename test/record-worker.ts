import { serveSqlite } from '../server/sql/sqlite-worker.ts';
import { testProcedures } from './record-procedures.ts';

declare const self: Worker;

serveSqlite(self, testProcedures);

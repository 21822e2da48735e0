import { procedures } from './procedures.ts';
import { serveSqlite } from './sql/sqlite-worker.ts';

declare const self: Worker;

serveSqlite(self, procedures);

import { serveSqlite } from '../storage/sql/sqlite-worker.ts';
import { procedures } from './procedures.ts';

declare const self: Worker;

serveSqlite(self, procedures);

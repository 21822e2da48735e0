// A process that a test kills: it adds notes under keys of their own, without end, and prints the
// number of each one that was acknowledged.
import { openRecord } from '../server/sql/record-sqlite.ts';
import { testProcedures } from './record-procedures.ts';

const record = await openRecord({
  procedures: testProcedures,
  worker: new URL('./record-worker.ts', import.meta.url),
  directory: process.argv[2] ?? '',
  onLost: (reason) => {
    throw new Error(reason);
  },
});

for (let note = 0; ; note++) {
  const text = `note ${note}`;
  const once = { owner: 'a', key: text, fingerprint: text, nowMs: 0 };
  await record.calls.add({ text }, once);
  process.stdout.write(`${note}\n`);
}

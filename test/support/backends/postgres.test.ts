import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from './postgres.ts';

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // The client emits an error when the server ends, also outside of a query.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

test('a private PostgreSQL is halted, killed and paused, and comes back with its data', async () => {
  const server = await startPostgres();
  let directory = '';
  try {
    const url = await server.createDatabase('show');
    await query(url, 'create table facts (fact int)');
    await query(url, 'insert into facts values (4)');
    directory = dirname(String((await query(url, 'show data_directory'))[0]));
    await server.halt();
    expect(server.pid).toBe(0);
    await server.start();
    expect(await query(url, 'select fact from facts')).toEqual([4]);
    await server.kill9();
    await server.start();
    expect(await query(url, 'select fact from facts')).toEqual([4]);

    server.pause();
    let answered = false;
    const answer = query(url, 'select fact from facts').then((facts) => {
      answered = true;
      return facts;
    });
    await Bun.sleep(200);
    expect(answered).toBe(false);
    server.resume();
    expect(await answer).toEqual([4]);
  } finally {
    await server.stop();
  }
  expect(existsSync(directory)).toBe(false);
});

test('a private PostgreSQL ends with the process that started it, also while it is paused', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      `const { startPostgres } = await import(${JSON.stringify(
        new URL('./postgres.ts', import.meta.url).pathname,
      )});
       const server = await startPostgres({ fsync: false });
       server.pause();
       const halted = await startPostgres({ fsync: false });
       await halted.halt();
       console.log(JSON.stringify([server.pid, server.directory, halted.directory]));
       setInterval(() => {}, 1000);`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const { value } = await child.stdout.getReader().read();
  const [pid, ...directories] = JSON.parse(new TextDecoder().decode(value));
  const remaining = () => [isRunning(pid), ...directories.map((path: string) => existsSync(path))];
  expect(remaining()).toEqual([true, true, true]);
  child.kill('SIGKILL');
  await child.exited;
  while (remaining().includes(true)) await Bun.sleep(20);
});

// An orphan that has exited stays a zombie when no parent reaps it, so a zombie does not count.
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from './postgres.ts';

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // It is told of its end also outside of a query.
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
    await ask(url, 'create table facts (fact int)');
    await ask(url, 'insert into facts values (4)');
    directory = dirname(String((await ask(url, 'show data_directory'))[0]));
    await server.halt();
    expect(server.pid).toBe(0);
    await server.start();
    expect(await ask(url, 'select fact from facts')).toEqual([4]);
    await server.kill9();
    await server.start();
    expect(await ask(url, 'select fact from facts')).toEqual([4]);

    server.pause();
    let answered = false;
    const answer = ask(url, 'select fact from facts').then((facts) => {
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
  const isLeft = () => [isRunning(pid), ...directories.map((path: string) => existsSync(path))];
  expect(isLeft()).toEqual([true, true, true]);
  child.kill('SIGKILL');
  await child.exited;
  while (isLeft().includes(true)) await Bun.sleep(20);
});

// Nobody may wait for an orphan that has ended: then its name stays, as that of a zombie.
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

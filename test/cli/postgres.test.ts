import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { fourbeat, type ProgramResult } from '../support/harness/program.ts';

let server: PostgresServer;
let database = '';
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  database = await server.createDatabase('live');
});
afterAll(() => server.stop());

const expectOk = ({ status, stdout, stderr }: ProgramResult): Record<string, unknown> => {
  expect(stderr === '' || /^fourbeat: saved in [^\n]*\n$/.test(stderr) ? '' : stderr).toBe('');
  expect(status).toBe(0);
  return JSON.parse(stdout);
};

test('[N-20] [U-15] account, token, member and key commands work on the database in PostgreSQL', async () => {
  const ann = ['--email', 'ann@example.org', '--name', 'Ann'];
  const made = await fourbeat(['account', 'create', ...ann, '--database', database]);
  expect(made.stderr).toBe(
    `fourbeat: saved in the database in PostgreSQL at 127.0.0.1:${server.port}/live\n`,
  );
  expect(expectOk(made)).toMatchObject({
    email: 'ann@example.org',
    token: expect.stringMatching(/^fb_/),
  });

  const env = { FOURBEAT_DATABASE: database };
  const again = await fourbeat(['account', 'create', ...ann], env);
  expect(again.status).toBe(1);
  expect(again.stderr).toMatch(
    /^fourbeat: An account with the email ann@example\.org already exists[^\n]*\n$/,
  );

  const email = ['--email', 'ann@example.org'];
  const token = expectOk(await fourbeat(['token', 'create', ...email, '--name', 'studio'], env));
  const list = await fourbeat(['token', 'list', ...email, '--json'], env);
  expect(JSON.parse(list.stdout)).toMatchObject([
    { id: token.id, name: 'studio' },
    { name: 'account create' },
  ]);
  const revoked = await fourbeat(['token', 'revoke', '--id', String(token.id)], env);
  expect(expectOk(revoked)).toEqual({ id: token.id, revoked: true });

  const link = expectOk(await fourbeat(['member', 'link', ...email], env));
  expect(link).toMatchObject({ kind: 'invitation', account: { name: 'Ann' } });
  const removal = await fourbeat(['member', 'remove', ...email], env);
  expect(removal.stderr).toBe('fourbeat: no member has the email ann@example.org\n');

  const { kid } = expectOk(await fourbeat(['key', 'rotate'], env));
  expect(kid).toBeString();
});

test('[N-20] a database without the schema, or that cannot be reached, is one line without the password', async () => {
  const empty = await server.createDatabase('empty');
  const wrong = new URL(database);
  wrong.password = 'Secret-4711';
  const nowhere = new URL(database);
  nowhere.port = '1';
  for (const [url, reason] of [
    [empty, 'it has no Fourbeat schema'],
    [wrong.href, 'password authentication failed'],
    [nowhere.href, 'ECONNREFUSED'],
  ] as const) {
    const { status, stdout, stderr } = await fourbeat(['key', 'rotate', '--database', url]);
    expect(stderr).toMatch(/^fourbeat: --database: [^\n]*\n$/);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain(new URL(url).password);
    expect([status, stdout]).toEqual([1, '']);
  }
});

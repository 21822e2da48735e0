import { createPrivateKey } from 'node:crypto';
import { accountProcedures } from '../../../server/auth/accounts/accounts-sql.ts';
import { newServiceToken } from '../../../server/auth/accounts/service-tokens.ts';
import { signToken } from '../../../server/auth/viewer-tokens/sign-token.ts';
import { tokenProcedures } from '../../../server/auth/viewer-tokens/tokens-sql.ts';
import type { Tx } from '../../../server/storage/sql/procedure.ts';
import { SQLITE_LOCKS, sqliteRows } from '../../../server/storage/sql/sqlite.ts';
import { Engine } from './postgres/engine.ts';

// Ed25519 signatures are deterministic, so that tokens are the same in each run.
const PRIVATE_JWK = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
};
const KEY_ID = 'simulation';
const ACCOUNT = '22222222-2222-4222-8222-222222222222';
/** The seat of readers that check the feed; no viewer gets it. */
const READER_SEAT = 999_999;

/** What every simulation starts with: the schema, an account and a signing key. */
export interface Template {
  readonly engine: Engine;
  /** A service token of the account. */
  readonly token: string;
  /** The credential of a viewer of a stream without a page. @param number from 0 on */
  viewerTokenOf(streamId: string, number: number, nowMs: number): string;
  close(): void;
}

export async function openTemplate(directory: string): Promise<Template> {
  const { secret, stored } = newServiceToken(ACCOUNT, 'simulation', (count) =>
    Buffer.alloc(count, 7),
  );
  const engine = await Engine.open(directory, async (query) => {
    const tx: Tx = {
      query: async (text, params) => query(text, params ?? []),
      rows: sqliteRows,
      insertNew: () => Promise.reject(new Error('not needed')),
      locks: SQLITE_LOCKS,
      timeline: '',
      monotonicMs: () => 0,
    };
    const user = { uuid: ACCOUNT, email: 'ann@example.org', name: 'Ann', created: 0 };
    await accountProcedures.createAccount.run(tx, { user, token: stored, nowMs: 0 });
    const offered = { kid: KEY_ID, privateJwk: JSON.stringify(PRIVATE_JWK) };
    const nowMs = 1_759_000_000_000;
    await tokenProcedures.rotateSigningKeys.run(tx, { offered, force: false, nowMs });
  });
  const key = createPrivateKey({ key: PRIVATE_JWK, format: 'jwk' });
  return {
    engine,
    token: secret,
    viewerTokenOf: (streamId, number, nowMs) => {
      const iat = Math.floor(nowMs / 1_000);
      const claims = { iss: 'https://live.example', aud: 'fourbeat', stream_id: streamId };
      const sub = `reader-${number}-`.padEnd(22, '0');
      const seat = READER_SEAT + number;
      const times = { iat, exp: iat + 600 };
      return `Bearer ${signToken(KEY_ID, key, { ...claims, ...times, seat, sub })}`;
    },
    close: () => engine.close(),
  };
}

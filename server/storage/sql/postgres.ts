import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import { Client, type CustomTypesConfig, types } from 'pg';
import { runtime } from '../../platform/runtime.ts';
import { insertNew } from './postgres-insert-new.ts';
import type { Locks, NumberTable, Rows, SqlValue, Tx } from './procedure.ts';

/** A session with PostgreSQL; one transaction at a time. */
export interface PostgresSession extends Tx {
  /** Runs statements without parameters in one round trip. @returns the tag of the last one */
  run(statements: string): Promise<string>;
  /** Why the session is unusable; null while it is usable. */
  failure(): string | null;
  /** When the pending statement was sent (`runtime.monotonicMs`); null when none is pending. */
  pendingSinceMs(): number | null;
  end(): Promise<void>;
  /** Closes the connection immediately; pending statements fail. */
  drop(reason: string): void;
}

export interface SessionOptions {
  readonly url: string;
  readonly connectTimeoutMs: number;
  /** Called on every response of the server. */
  readonly onResponse?: () => void;
}

/** Opens a session. @throws Error of the socket or the server */
export type OpenSession = (options: SessionOptions) => Promise<PostgresSession>;

/** Limit of a statement of a call with a deadline, so that no statements pile up behind it. */
const STATEMENT_TIMEOUT_MS = 1_000;
/** Shorter than the deadline of a call, so that a call in a deadlock has time for a retry. */
export const LOCK_TIMEOUT_MS = 500;
/** The server ends a transaction of a stalled process after this, and releases its locks. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 1_000;

// Plans are cached for the whole session: a plan that was made on a nearly empty table must also work
// with millions of rows. With these settings, every plan uses an index.
const SESSION_SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A disabled scan that is used for lack of an index has so high a cost that the planner would spend
  // 100 ms on compilation.
  jit: 'off',
  // The server detects a disconnected node within 30 s, and frees its connection.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 4,
};

/** Why a server that refuses writes (`default_transaction_read_only`) counts as unavailable. */
export const READ_ONLY = 'the server is read-only';

/** Hexadecimal digits of the timeline at the start of the name of a file of the write-ahead log. */
const TIMELINE_DIGITS = 8;
/**
 * Errors of a server that does not show its timeline: undefined function, feature not supported, no privilege.
 * There, an interval may change when a standby is promoted that lacks commits.
 */
const WITHOUT_TIMELINE: ReadonlySet<string> = new Set(['42883', '0A000', '42501']);

const KEEP_ALIVE_MS = 5_000;
const CLOSE_TIMEOUT_MS = 200;

// `no key`: inserts of rows that reference the locked row do not wait, such as a viewer's seat while the
// producer changes the stream.
const LOCKS: Locks = {
  update: 'for no key update',
  claim: 'for no key update skip locked',
  share: 'for key share',
  exclusive: 'for update',
  settle: 'for update skip locked',
};

// A thousand answers take 4.6 ms to insert from JSON, and 4.7 ms from one array per column; a hundred
// take 0.85 ms and 1.0 ms.
function rows(parameter: string, columns: readonly string[]): string {
  const list = columns.map((column, index) => {
    const [name, ...type] = column.split(' ');
    return `(value ->> ${index})::${type.join(' ')} as ${name}`;
  });
  return `(select ${list.join(', ')} from jsonb_array_elements(${parameter}::jsonb))`;
}

const NUMBERS: ReadonlySet<number> = new Set([
  types.builtins.INT2,
  types.builtins.INT4,
  types.builtins.INT8,
  types.builtins.NUMERIC,
  types.builtins.FLOAT8,
]);

// The same values as with SQLite. The database has no integers beyond 2^53.
const TYPES: CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') => {
    if (NUMBERS.has(oid)) return Number;
    if (oid === types.builtins.BOOL) return (text: string) => (text === 't' ? 1 : 0);
    if (oid === types.builtins.BYTEA) return types.getTypeParser(oid, format);
    return String;
  }) as CustomTypesConfig['getTypeParser'],
};

/**
 * Opens a session. `sslmode` in the URL has the meaning that it has for `psql`: `require` encrypts, and
 * `verify-full` also verifies the certificate.
 * @throws Error of the socket or the server, without the password
 */
export async function openSession(options: SessionOptions): Promise<PostgresSession> {
  const socket = new Socket();
  const client = new Client({
    connectionString: sessionUrl(options.url),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: TYPES,
    stream: () => socket,
  });
  const session = new Session(client, socket, options.onResponse ?? (() => {}));
  const timer = runtime.setTimeout(() => session.drop('no response'), options.connectTimeoutMs);
  try {
    await client.connect();
    await session.prepare();
    return session;
  } catch (error) {
    session.drop('it could not be opened');
    throw error;
  } finally {
    runtime.clearTimer(timer);
  }
}

function sessionUrl(text: string): string {
  const url = new URL(text);
  const settings = Object.entries(SESSION_SETTINGS).map(([name, value]) => `-c ${name}=${value}`);
  const urlOptions = url.searchParams.get('options');
  url.searchParams.set('options', [...(urlOptions ? [urlOptions] : []), ...settings].join(' '));
  if (!url.searchParams.has('application_name'))
    url.searchParams.set('application_name', 'fourbeat');
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true');
  return url.href;
}

class Session implements PostgresSession {
  readonly rows = rows;
  readonly locks = LOCKS;
  timeline = '';
  readonly monotonicMs = () => runtime.monotonicMs();
  private reason: string | null = null;
  private sentMs: number | null = null;

  constructor(
    private readonly client: Client,
    private readonly socket: Socket,
    private readonly onResponse: () => void,
  ) {
    client.on('error', (error) => this.fail(error.message));
    client.on('end', () => this.fail('the connection was closed'));
    // A long result arrives in pieces. With TLS the pieces may not be seen here, but the end is, in `track`.
    socket.on('data', onResponse);
  }

  /** Checks and settings that the startup message cannot contain. */
  async prepare(): Promise<void> {
    const [server] = await this.query<{ standby: number; readonly: number; encoding: string }>(
      // Acknowledged writes must survive a crash, so `synchronous_commit` must not be `off`. Its
      // other values are the operator's choice about replicas.
      `select pg_is_in_recovery() as standby,
         current_setting('transaction_read_only') = 'on' as readonly,
         current_setting('server_encoding') as encoding,
         set_config('synchronous_commit',
           case current_setting('synchronous_commit') when 'off' then 'on'
           else current_setting('synchronous_commit') end, false)`,
    );
    if (server?.standby === 1) throw new Error('the server is a replica');
    if (server?.readonly === 1) throw new Error(READ_ONLY);
    if (server?.encoding !== 'UTF8') {
      // 22P05 is "untranslatable character", the error that texts would cause later.
      const message = `the database has the encoding ${server?.encoding}, not UTF8`;
      throw Object.assign(new Error(message), { code: '22P05' });
    }
    this.timeline = await this.readTimeline();
  }

  /** A server that is no standby keeps its timeline until it stops. */
  private async readTimeline(): Promise<string> {
    try {
      const [row] = await this.query<{ system: string; file: string }>(
        `select system_identifier::text as system, pg_walfile_name(pg_current_wal_lsn()) as file
         from pg_control_system()`,
      );
      if (!row) throw new Error('the server has no control data');
      return `${row.system}:${Number.parseInt(row.file.slice(0, TIMELINE_DIGITS), 16)}`;
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (WITHOUT_TIMELINE.has(code)) return '';
      throw error;
    }
  }

  async query<Row>(text: string, params: SqlValue[] = []): Promise<Rows<Row>> {
    const { command, rowCount, rows } = await this.track(
      this.client.query({ name: statementName(text), text, values: params }),
    );
    return Object.assign(rows as Row[], { affected: command === 'SELECT' ? 0 : (rowCount ?? 0) });
  }

  readonly insertNew = (table: NumberTable, rows: readonly (readonly number[])[]) =>
    insertNew(this, table, rows);

  async run(statements: string): Promise<string> {
    const result = await this.track(this.client.query(statements));
    return (Array.isArray(result) ? result.at(-1) : result).command;
  }

  private async track<T>(response: Promise<T>): Promise<T> {
    this.sentMs = runtime.monotonicMs();
    try {
      const result = await response;
      this.onResponse();
      return result;
    } finally {
      this.sentMs = null;
    }
  }

  failure(): string | null {
    return this.reason;
  }

  pendingSinceMs(): number | null {
    return this.sentMs;
  }

  async end(): Promise<void> {
    this.fail('it was ended');
    await Promise.race([this.client.end(), runtime.sleep(CLOSE_TIMEOUT_MS)]);
    this.socket.destroy();
  }

  drop(reason: string): void {
    this.fail(reason);
    this.socket.destroy();
  }

  private fail(reason: string): void {
    this.reason ??= reason;
  }
}

const statementNames = new Map<string, string>();

/**
 * The name of a prepared statement; each session prepares it once. Statement texts are constants of the
 * program, so their number is bounded. A pooler in transaction mode would lose the prepared statements
 * and the session settings.
 */
function statementName(text: string): string {
  const cached = statementNames.get(text);
  if (cached) return cached;
  const name = `fourbeat_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  statementNames.set(text, name);
  return name;
}

import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import { Client, type CustomTypesConfig, types } from 'pg';
import { addNew } from './postgres-add-new.ts';
import type { Locks, NumberTable, Rows, SqlValue, Tx } from './procedure.ts';

/** A session of PostgreSQL; one transaction at a time. */
export interface PostgresSession extends Tx {
  /** Runs statements without parameters, several in one round trip. @returns the last one's tag */
  run(statements: string): Promise<string>;
  /** Why it cannot be used any more; null while it can. */
  lost(): string | null;
  /** When the statement was sent whose answer it waits for (`performance.now()`); null for none. */
  waitsSinceMs(): number | null;
  /** Says goodbye. */
  end(): Promise<void>;
  /** Drops the connection as it is; what waits for an answer fails. */
  drop(reason: string): void;
}

export interface SessionOptions {
  readonly url: string;
  readonly connectMs: number;
  /** Told whenever the server has answered anything. */
  readonly onAnswer?: () => void;
}

/** A statement of a call that has a deadline ends before this, so that nothing piles up behind it. */
const STATEMENT_MS = 1_000;
/** Shorter than the deadline of a call, so that one of two in a deadlock has time to run again. */
const LOCK_MS = 500;
/** A transaction whose process does nothing for this long is ended, and its locks with it. */
const IDLE_IN_TRANSACTION_MS = 1_000;

// Plans are kept for as long as the session: one that was made while a table was nearly empty must
// still do when it has millions of rows. With these, every plan goes by an index.
const SESSION_SETTINGS = {
  statement_timeout: STATEMENT_MS,
  lock_timeout: LOCK_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A scan that is off and used all the same, for lack of an index, has a cost that looks worth
  // 100 ms of compiling.
  jit: 'off',
  // The server notices within half a minute that a node was cut off, and gives its place free.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 4,
};

const KEEP_ALIVE_MS = 5_000;
const GOODBYE_MS = 200;

// "no key": whoever adds a row that refers to the locked one does not wait, as a viewer who takes a
// seat while the producer is at work on the stream.
const LOCKS: Locks = {
  update: 'for no key update',
  claim: 'for no key update skip locked',
  share: 'for key share',
  settle: 'for update skip locked',
};

// Recording a thousand answers takes 4.6 ms so, and 4.7 ms with an array for each column; 0.85 ms
// and 1.0 ms for a hundred.
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

// The values that SQLite gives: what is beyond 2^53 is nowhere in the database.
const TYPES: CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') => {
    if (NUMBERS.has(oid)) return Number;
    if (oid === types.builtins.BOOL) return (text: string) => (text === 't' ? 1 : 0);
    if (oid === types.builtins.BYTEA) return types.getTypeParser(oid, format);
    return String;
  }) as CustomTypesConfig['getTypeParser'],
};

/**
 * Opens a session with the database's settings. `sslmode` in the url means what it means to `psql`:
 * `require` encrypts, `verify-full` also checks whose certificate it is.
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
  const session = new Session(client, socket, options.onAnswer ?? (() => {}));
  const timer = setTimeout(() => session.drop('no answer'), options.connectMs);
  try {
    await client.connect();
    await session.prepare();
    return session;
  } catch (error) {
    session.drop('it could not be opened');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function sessionUrl(text: string): string {
  const url = new URL(text);
  const settings = Object.entries(SESSION_SETTINGS).map(([name, value]) => `-c ${name}=${value}`);
  const own = url.searchParams.get('options');
  url.searchParams.set('options', [...(own ? [own] : []), ...settings].join(' '));
  if (!url.searchParams.has('application_name'))
    url.searchParams.set('application_name', 'fourbeat');
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true');
  return url.href;
}

class Session implements PostgresSession {
  readonly rows = rows;
  readonly locks = LOCKS;
  private reason: string | null = null;
  private sinceMs: number | null = null;

  constructor(
    private readonly client: Client,
    private readonly socket: Socket,
    private readonly onAnswer: () => void,
  ) {
    client.on('error', (error) => this.lose(error.message));
    client.on('end', () => this.lose('the connection was closed'));
    // A long result comes in pieces. With TLS they may not be heard here, but its end is, below.
    socket.on('data', onAnswer);
  }

  /** Checks and settings that a startup message cannot carry. */
  async prepare(): Promise<void> {
    const [facts] = await this.query<{ standby: number; encoding: string }>(
      // What was acknowledged survives a crash: `off` would lose it. Other values are the
      // operator's choice about replicas.
      `select pg_is_in_recovery() as standby, current_setting('server_encoding') as encoding,
         set_config('synchronous_commit',
           case current_setting('synchronous_commit') when 'off' then 'on'
           else current_setting('synchronous_commit') end, false)`,
    );
    if (facts?.standby === 1) throw new Error('the server is a replica');
    if (facts?.encoding !== 'UTF8') {
      // 22P05 is "untranslatable character": what a text would be refused with later.
      throw Object.assign(new Error(`the database has the encoding ${facts?.encoding}, not UTF8`), {
        code: '22P05',
      });
    }
  }

  async query<Row>(text: string, params: SqlValue[] = []): Promise<Rows<Row>> {
    const { command, rowCount, rows } = await this.ask(
      this.client.query({ name: nameOf(text), text, values: params }),
    );
    return Object.assign(rows as Row[], { affected: command === 'SELECT' ? 0 : (rowCount ?? 0) });
  }

  readonly addNew = (table: NumberTable, rows: readonly (readonly number[])[]) =>
    addNew(this, table, rows);

  async run(statements: string): Promise<string> {
    const result = await this.ask(this.client.query(statements));
    return (Array.isArray(result) ? result.at(-1) : result).command;
  }

  private async ask<T>(answer: Promise<T>): Promise<T> {
    this.sinceMs = performance.now();
    try {
      const result = await answer;
      this.onAnswer();
      return result;
    } finally {
      this.sinceMs = null;
    }
  }

  lost(): string | null {
    return this.reason;
  }

  waitsSinceMs(): number | null {
    return this.sinceMs;
  }

  async end(): Promise<void> {
    this.lose('it was ended');
    await Promise.race([this.client.end(), Bun.sleep(GOODBYE_MS)]);
    this.socket.destroy();
  }

  drop(reason: string): void {
    this.lose(reason);
    this.socket.destroy();
  }

  private lose(reason: string): void {
    this.reason ??= reason;
  }
}

const names = new Map<string, string>();

/**
 * The name under which a statement is prepared, once in each session. Texts are constants of the
 * program, so their number is bounded. A pooler between that gives out sessions by the transaction
 * would lose both these and the settings of the session.
 */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known) return known;
  const name = `fourbeat_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  names.set(text, name);
  return name;
}

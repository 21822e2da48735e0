import type { PostgresSession, SessionOptions } from '../../../../server/storage/sql/postgres.ts';
import { insertNew } from '../../../../server/storage/sql/postgres-insert-new.ts';
import type { Locks, Rows, SqlValue } from '../../../../server/storage/sql/procedure.ts';
import { sqliteRows } from '../../../../server/storage/sql/sqlite.ts';
import type { Link } from '../link.ts';
import type { Machine } from '../machine.ts';
import type { PostgresModel, ServerSession } from './server.ts';
import { LOCK, SKIP_LOCKED, type SqlError } from './transaction.ts';

const LOCKS: Locks = {
  ...{ update: LOCK, exclusive: LOCK, share: LOCK },
  ...{ claim: SKIP_LOCKED, settle: SKIP_LOCKED },
};

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Opens a session of a node with the model, over a link. @throws Error when nothing accepts it */
export function openSimulatedSession(
  server: PostgresModel,
  link: Link,
  machine: Machine,
  { connectTimeoutMs, onResponse }: SessionOptions,
): Promise<SimulatedSession> {
  const session = new SimulatedSession(server, link, machine, onResponse ?? (() => {}));
  const timer = machine.runtime.setTimeout(() => session.drop('no response'), connectTimeoutMs);
  return session
    .connect()
    .then(() => session)
    .finally(() => machine.runtime.clearTimer(timer));
}

export class SimulatedSession implements PostgresSession {
  readonly rows = sqliteRows;
  readonly locks = LOCKS;
  timeline = '';
  readonly monotonicMs = () => this.machine.runtime.monotonicMs();
  private reason: string | null = null;
  private sentMs: number | null = null;
  private pending: Pending | null = null;
  private server: ServerSession | null = null;
  private readonly toServer: (deliver: () => void) => void;
  private readonly toClient: (deliver: () => void) => void;

  constructor(
    private readonly model: PostgresModel,
    link: Link,
    private readonly machine: Machine,
    private readonly onResponse: () => void,
  ) {
    this.toServer = link.channel('requests');
    this.toClient = link.channel('replies');
  }

  async connect(): Promise<void> {
    this.timeline = await this.request<string>((reply) => {
      if (!this.model.accepts) {
        reply(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
        return;
      }
      this.server = this.model.open((reason) => this.onServerClosed(reason));
      reply(this.model.timeline);
    });
  }

  query<Row>(text: string, params: SqlValue[] = []): Promise<Rows<Row>> {
    const statement = inDialect(text);
    return this.request((reply, server) => this.model.execute(server, statement, params, reply));
  }

  readonly insertNew: PostgresSession['insertNew'] = (table, rows) => insertNew(this, table, rows);

  run(statements: string): Promise<string> {
    return this.request((reply, server) => reply(this.runCommand(statements, server)));
  }

  failure(): string | null {
    return this.reason;
  }

  pendingSinceMs(): number | null {
    return this.sentMs;
  }

  async end(): Promise<void> {
    this.drop('it was ended');
  }

  /** The process of the node ended: the connection closes, and nothing is left to notice it. */
  abandon(): void {
    this.pending = null;
    this.reason ??= 'the process ended';
    this.closeServer();
  }

  drop(reason: string): void {
    const isFirst = this.reason === null;
    this.fail(reason);
    if (isFirst) this.closeServer();
  }

  private closeServer(): void {
    this.toServer(() =>
      this.model.whenRunning(() => {
        if (this.server && !this.server.isClosed) this.model.end(this.server);
      }),
    );
  }

  private runCommand(statements: string, server: ServerSession): string | SqlError {
    if (statements.startsWith('begin')) {
      const lockTimeoutMs = /lock_timeout = (\d+)/.exec(statements)?.[1];
      this.model.begin(
        server,
        statements.includes('read only') ? 'read' : 'write',
        lockTimeoutMs === undefined ? undefined : Number(lockTimeoutMs),
      );
      return 'BEGIN';
    }
    if (statements === 'commit') return this.model.commit(server);
    if (statements === 'rollback') {
      this.model.rollback(server);
      return 'ROLLBACK';
    }
    if (statements === 'select 1') return 'SELECT';
    throw new Error(`the model does not know ${statements}`);
  }

  private request<T>(
    work: (reply: (result: unknown) => void, server: ServerSession) => void,
  ): Promise<T> {
    if (this.reason !== null) return Promise.reject(connectionError(this.reason));
    this.sentMs = this.machine.runtime.monotonicMs();
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = { resolve: resolve as (result: unknown) => void, reject };
      this.pending = pending;
      const reply = (result: unknown) =>
        this.toClient(() => this.machine.run(() => this.receive(pending, result)));
      this.toServer(() =>
        this.model.whenRunning(() => {
          const { server } = this;
          if (server?.isClosed) return;
          work(reply, server as ServerSession);
        }),
      );
    });
  }

  private receive(pending: Pending, result: unknown): void {
    if (this.pending !== pending || this.reason !== null) return;
    this.pending = null;
    this.sentMs = null;
    this.onResponse();
    if (result instanceof Error) pending.reject(result);
    else pending.resolve(result);
  }

  private onServerClosed(reason: string): void {
    this.toClient(() => this.machine.run(() => this.fail(reason)));
  }

  private fail(reason: string): void {
    this.reason ??= reason;
    const { pending } = this;
    this.pending = null;
    this.sentMs = null;
    pending?.reject(connectionError(reason));
  }
}

// After a `from` clause without `where`, SQLite reads `on` as the condition of a join.
function inDialect(text: string): string {
  return text.replace(/( candidates\s+)(on conflict)/, '$1where true $2');
}

function connectionError(reason: string): Error {
  return Object.assign(new Error(reason), { code: 'ECONNRESET' });
}

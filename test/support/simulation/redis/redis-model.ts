import { createLibrary, type Library } from '../../../../server/storage/redis/library.ts';
import type { FunctionCall } from '../../../../server/storage/redis/redis.ts';
import type { ConnectionEnvironment } from '../../../../server/storage/redis/transport.ts';
import { bytesOfArgument, clientReply } from './bytes.ts';
import { type Reply, Status } from './commands/command.ts';
import { commandTable, DATA_COMMANDS, requireArity } from './commands/commands.ts';
import { serverCommands } from './commands/server-commands.ts';
import { entryReply } from './commands/stream-commands.ts';
import { Database } from './database.ts';
import { Follower, REPLICATION } from './follower.ts';
import { FunctionLibrary } from './function-library.ts';
import { RedisError } from './redis-error.ts';
import { ServerConnection } from './server-connection.ts';
import type { StreamId } from './stream.ts';

export interface RedisModelOptions {
  /** The system clock of the server, Unix ms. It may step and drift. */
  readonly nowMs: () => number;
  readonly environment: Pick<ConnectionEnvironment, 'monotonicMs' | 'setTimer' | 'random'>;
  /** Whether it writes an append-only file, which a restart can read. Default: false. */
  readonly appendOnlyFile?: boolean;
  /** The library that `call` loads; by default that of this release. */
  readonly library?: Library;
}

export interface ReplicaOptions {
  /** How long a write takes to reach it. */
  readonly lagMs: number;
  /** The system clock of the replica once it is the primary; by default that of the first server. */
  readonly nowMs?: () => number;
}

export interface RestartOptions {
  /** Whether it reads the append-only file. */
  readonly keepsData: boolean;
  /** Whether the machine crashed: the file lacks the last second. Default: false. */
  readonly losesLastSecond?: boolean;
}

interface ReplicaState {
  readonly follower: Follower;
  readonly nowMs: () => number;
}

/** The file is synced each second. */
const FILE_LAG_MS = 1_000;

/** Creates a model of one Redis server, or of a primary with a replica behind one address. */
export function createRedisModel(options: RedisModelOptions): RedisModel {
  return new RedisModel(options);
}

/**
 * A model of Redis 7: the functions, which run as they are, the commands that the service uses, expiry,
 * an append-only file, a replica and failover. It is synchronous and deterministic. A call costs some
 * microseconds.
 */
export class RedisModel {
  runId: string;
  /** Its library; `openRedis` takes it, too, so that the files are read once. */
  readonly library: Library;
  private nowMs: () => number;
  private database = new Database();
  private file: Follower | null;
  private replica: ReplicaState | null = null;
  private readonly functions: FunctionLibrary;
  private readonly findServerCommand: ReturnType<typeof commandTable>;
  private readonly connections = new Set<ServerConnection>();
  private state: 'running' | 'paused' | 'stopped' = 'running';

  constructor(private readonly options: RedisModelOptions) {
    this.library = options.library ?? RELEASE_LIBRARY;
    this.nowMs = options.nowMs;
    this.file = options.appendOnlyFile ? newFile() : null;
    this.runId = this.newRunId();
    this.database.onExpired = (key) => this.replicate(REPLICATION.all, ['DEL', key]);
    this.functions = new FunctionLibrary((name, words, mask) => this.run(name, words, mask));
    this.findServerCommand = commandTable(
      serverCommands({
        timeMs: () => this.timeMs(),
        runId: () => this.runId,
        functions: this.functions,
      }),
    );
  }

  /** Calls a function now, without a connection. Loads the library if it is missing. @throws RedisError */
  call({ name, keys, values }: FunctionCall): unknown {
    if (!this.functions.has(this.library.nameOf(name))) this.functions.load(this.library.code);
    const words = ['FCALL', this.library.nameOf(name), keys.length, ...keys, ...values];
    return clientReply(this.execute(words.map(bytesOfArgument)));
  }

  /** Executes a command now, without a connection. @returns replies as text @throws RedisError */
  command(...words: (string | number)[]): Reply {
    const reply = this.execute(words.map(bytesOfArgument));
    return reply instanceof Status ? reply.text : reply;
  }

  /** Unix ms, with fractions: the clock of the server now. */
  timeMs(): number {
    return this.nowMs();
  }

  /** Executes one command of a client, and then wakes up clients that wait for entries of streams. */
  execute(words: string[]): Reply {
    this.database.nowMs = Math.floor(this.nowMs());
    try {
      return this.run(words[0] ?? '', words.slice(1), REPLICATION.all);
    } finally {
      const { appendedStreams } = this.database;
      if (appendedStreams.size > 0) {
        for (const connection of this.connections) connection.wakeUp(appendedStreams);
        appendedStreams.clear();
      }
    }
  }

  /** The entries of a stream after an id, for XREAD. */
  entriesAfter(key: string, id: StreamId, countMax: number): Reply[] {
    this.database.nowMs = Math.floor(this.nowMs());
    return (this.database.stream(key)?.after(id, countMax) ?? []).map(entryReply);
  }

  /** Deletes a key as Redis does when its memory is full. */
  evict(key: string): void {
    this.command('DEL', key);
  }

  /** Adds a replica with all data, or replaces it. */
  attachReplica({ lagMs, nowMs = this.options.nowMs }: ReplicaOptions): void {
    const follower = new Follower(REPLICATION.replica, lagMs);
    follower.database.copyFrom(this.database);
    this.replica = { follower, nowMs };
  }

  /** Stops the replication; writes are not confirmed any more. */
  detachReplica(): void {
    this.replica = null;
  }

  /** How long a write takes to reach the replica, in ms; Infinity without one. */
  replicationLagMs(): number {
    return this.replica?.follower.lagMs ?? Number.POSITIVE_INFINITY;
  }

  /** Changes the lag from now on. */
  setReplicationLagMs(lagMs: number): void {
    if (this.replica) this.replica.follower.lagMs = lagMs;
  }

  /**
   * The replica becomes the primary, as it is now: the last writes are lost. Connections to the old
   * primary end, and the address leads to the new one. It has no replica.
   */
  failOver(): void {
    if (!this.replica) throw new Error('there is no replica');
    const { follower, nowMs } = this.replica;
    follower.executeUntil(this.options.environment.monotonicMs() - follower.lagMs);
    this.replica = null;
    this.nowMs = nowMs;
    this.start(follower.database);
  }

  /** Ends the process; connections end, and new ones are refused. */
  stop(): void {
    this.state = 'stopped';
    for (const connection of [...this.connections]) connection.end();
  }

  /** Starts the process again, with another run id. Stops it first if it runs. */
  restart({ keepsData, losesLastSecond = false }: RestartOptions): void {
    const { file } = this;
    if (keepsData && !file) throw new Error('there is no append-only file');
    const endMs = losesLastSecond
      ? this.options.environment.monotonicMs() - FILE_LAG_MS
      : Number.POSITIVE_INFINITY;
    file?.executeUntil(endMs);
    if (!keepsData) this.functions.clear();
    this.start(keepsData && file ? file.database : new Database());
  }

  /** Stops it (SIGSTOP): connections stay open, and nothing is received or sent. */
  pause(): void {
    this.state = 'paused';
  }

  /** Continues with everything that clients sent in the meantime. */
  resume(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    for (const connection of [...this.connections]) connection.resume();
  }

  /** Keys in memory, also those that expired and are not deleted yet. */
  get size(): number {
    return this.database.size;
  }

  get isPaused(): boolean {
    return this.state === 'paused';
  }

  /** Accepts a connection; null when nothing listens. @param onEnd called when the server closes it */
  accept(onEnd: () => void): ServerConnection | null {
    if (this.state === 'stopped') return null;
    const connection = new ServerConnection(this, this.options.environment, () => {
      this.connections.delete(connection);
      onEnd();
    });
    this.connections.add(connection);
    return connection;
  }

  private start(database: Database): void {
    this.stop();
    this.database.onExpired = null;
    database.onExpired = (key) => this.replicate(REPLICATION.all, ['DEL', key]);
    this.database = database;
    this.runId = this.newRunId();
    if (this.file) {
      this.file = newFile();
      this.file.database.copyFrom(database);
    }
    // A replica of a restarted server synchronizes again.
    if (this.replica) {
      this.attachReplica({ lagMs: this.replica.follower.lagMs, nowMs: this.replica.nowMs });
    }
    this.state = 'running';
  }

  private run(name: string, words: readonly string[], mask: number): Reply {
    const { database } = this;
    const command = findDataCommand(name);
    if (!command) return this.runServerCommand(name, words);
    requireArity(command, name, words.length);
    const changesBefore = database.changes;
    database.effect = null;
    const reply = command.run(database, words);
    if (database.changes !== changesBefore && (this.file || this.replica)) {
      this.replicate(mask, database.effect ?? [name, ...words]);
    }
    return reply;
  }

  private runServerCommand(name: string, words: readonly string[]): Reply {
    const command = this.findServerCommand(name);
    if (!command) throw new RedisError(`ERR unknown command '${name}'`);
    requireArity(command, name, words.length);
    return command.run(this.database, words);
  }

  private replicate(mask: number, words: readonly string[]): void {
    const nowMs = this.options.environment.monotonicMs();
    this.file?.add(mask, words, nowMs);
    this.replica?.follower.add(mask, words, nowMs);
  }

  private newRunId(): string {
    const { random } = this.options.environment;
    return Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join('');
  }
}

const RELEASE_LIBRARY = createLibrary();
const findDataCommand = commandTable(DATA_COMMANDS);
const newFile = () => new Follower(REPLICATION.appendOnlyFile, FILE_LAG_MS);

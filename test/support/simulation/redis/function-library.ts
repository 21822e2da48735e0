import { OK, type Reply, Status } from './commands/command.ts';
import { REPLICATION } from './follower.ts';
import { formatArgument } from './lua/lua-numbers.ts';
import { type LuaProgram, type RedisGlobal, translateLua } from './lua/lua-program.ts';
import { LuaError, type LuaFunction, LuaTable, type LuaValue } from './lua/lua-table.ts';
import { RedisError } from './redis-error.ts';

/** Executes a command for a function. @param words without the name @throws RedisError */
export type RunCommand = (name: string, words: readonly string[], replication: number) => Reply;

/** Translated libraries by their code: the same ones run on thousands of servers. */
const programs = new Map<string, LuaProgram>();

/** The functions of a server. */
export class FunctionLibrary {
  /** Number of calls so far. */
  calls = 0;
  private readonly libraries = new Set<string>();
  private readonly functions = new Map<string, LuaFunction>();
  private replication: number = REPLICATION.all;

  constructor(private readonly run: RunCommand) {}

  /** `FUNCTION LOAD`. @throws RedisError when there is one of this name @throws LuaError */
  load(code: string): Reply {
    const [, name] = /^#!lua name=(\w+)\n/.exec(code) ?? [];
    if (name === undefined) throw new RedisError('ERR Missing library metadata');
    if (this.libraries.has(name)) throw new RedisError(`ERR Library '${name}' already exists`);
    const program = programs.get(code) ?? translateLua(code.slice(code.indexOf('\n')));
    programs.set(code, program);
    program(this.globalRedis());
    this.libraries.add(name);
    return name;
  }

  has(name: string): boolean {
    return this.functions.has(name);
  }

  clear(): void {
    this.libraries.clear();
    this.functions.clear();
  }

  /** `FCALL`. @throws RedisError */
  call(name: string, keys: string[], values: string[]): Reply {
    const callback = this.functions.get(name);
    if (!callback) throw new RedisError('ERR Function not found');
    this.replication = REPLICATION.all;
    this.calls += 1;
    try {
      return replyOf(callback(new LuaTable(keys), new LuaTable(values)));
    } catch (error) {
      throw error instanceof LuaError ? new RedisError(`ERR ${error.message}`) : error;
    }
  }

  private globalRedis(): RedisGlobal {
    const call = (name: LuaValue, values: readonly LuaValue[]) =>
      luaValueOf(this.run(argumentOf(name), values.map(argumentOf), this.replication));
    return {
      call: (name, ...values) => call(name, values),
      pcall(name, ...values) {
        try {
          return call(name, values);
        } catch (error) {
          if (!(error instanceof RedisError)) throw error;
          return tableOf('err', error.message);
        }
      },
      set_repl: (mask) => {
        this.replication = Number(mask);
      },
      register_function: (name, callback) => {
        if (typeof callback !== 'function') throw new LuaError('a function is expected');
        this.functions.set(String(name), callback);
      },
      REPL_NONE: REPLICATION.none,
      REPL_AOF: REPLICATION.appendOnlyFile,
      REPL_REPLICA: REPLICATION.replica,
      REPL_ALL: REPLICATION.all,
    };
  }
}

function argumentOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatArgument(value);
  throw new RedisError('ERR Lua redis lib command arguments must be strings or integers');
}

/** A reply as `redis.call` returns it. */
function luaValueOf(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (reply instanceof Status) return tableOf('ok', reply.text);
  return typeof reply === 'object' ? new LuaTable(reply.map(luaValueOf)) : reply;
}

/** The reply to a client that a function returns. Numbers are truncated, as in Redis. */
function replyOf(value: LuaValue): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value) + 0;
  if (typeof value === 'boolean') return value ? 1 : null;
  if (!(value instanceof LuaTable)) return null;
  const error = value.get('err');
  if (typeof error === 'string') throw new RedisError(error);
  const status = value.get('ok');
  if (typeof status === 'string') return status === OK.text ? OK : new Status(status);
  return value.items.map(replyOf);
}

function tableOf(name: string, text: string): LuaTable {
  const table = new LuaTable();
  table.set(name, text);
  return table;
}

import { parse } from 'luaparse';
import { noteParentheses } from './lua-parentheses.ts';
import * as lua from './lua-runtime.ts';
import { LuaScope } from './lua-scope.ts';
import { translateBlock } from './lua-statements.ts';
import type { LuaValue } from './lua-table.ts';

/** The global `redis` of Lua code. */
export interface RedisGlobal {
  call(name: LuaValue, ...values: LuaValue[]): LuaValue;
  pcall(name: LuaValue, ...values: LuaValue[]): LuaValue;
  set_repl(mask: LuaValue): void;
  register_function(name: LuaValue, callback: LuaValue): void;
  readonly REPL_NONE: number;
  readonly REPL_AOF: number;
  readonly REPL_REPLICA: number;
  readonly REPL_ALL: number;
}

/** A translated program, which runs with a `redis`. */
export type LuaProgram = (redis: RedisGlobal) => void;

/**
 * Translates Lua code to JavaScript: the subset of Lua 5.1 that the library of functions uses.
 * @throws LuaError for a construct outside of the subset
 * @throws SyntaxError when it is no Lua
 */
export function translateLua(source: string): LuaProgram {
  const { body } = parse(source, {
    luaVersion: '5.1',
    encodingMode: 'pseudo-latin1',
    locations: true,
    ranges: true,
    onCreateNode: (node) => noteParentheses(node, source),
    comments: false,
  });
  const scope = LuaScope.root();
  const block = translateBlock(body, scope);
  const text = `'use strict';\n${scope.declarations()}${block}`;
  const run = new Function('lua', 'redis', text) as (
    library: typeof lua,
    redis: RedisGlobal,
  ) => void;
  return (redis) => run(lua, redis);
}

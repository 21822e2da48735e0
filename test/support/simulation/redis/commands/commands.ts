import { RedisError } from '../redis-error.ts';
import type { Command, Commands } from './command.ts';
import { HASH_COMMANDS } from './hash-commands.ts';
import { KEY_COMMANDS } from './key-commands.ts';
import { SORTED_SET_COMMANDS } from './sorted-set-commands.ts';
import { STREAM_COMMANDS } from './stream-commands.ts';
import { STRING_COMMANDS } from './string-commands.ts';

/** The commands for keys: exactly those that the functions and their tests use. */
export const DATA_COMMANDS: Commands = {
  ...KEY_COMMANDS,
  ...STRING_COMMANDS,
  ...HASH_COMMANDS,
  ...SORTED_SET_COMMANDS,
  ...STREAM_COMMANDS,
};

/** A table of commands by name. */
export function commandTable(commands: Commands): (name: string) => Command | undefined {
  const table = new Map(Object.entries(commands));
  return (name) => table.get(name) ?? table.get(name.toUpperCase());
}

/** @throws RedisError when the number of arguments is wrong */
export function requireArity(command: Command, name: string, count: number): void {
  const isWrong = command.isVariadic ? count < command.arity : count !== command.arity;
  if (isWrong) {
    throw new RedisError(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);
  }
}

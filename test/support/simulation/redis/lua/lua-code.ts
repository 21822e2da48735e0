import type { Base } from 'luaparse';
import { LuaError } from './lua-table.ts';

/** Type of an expression, if the translation knows it. */
export type CodeType = 'number' | 'string' | 'boolean' | 'unknown';

/** A JavaScript expression. */
export interface Code {
  readonly js: string;
  readonly type: CodeType;
}

export const code = (js: string, type: CodeType = 'unknown'): Code => ({ js, type });

export const asNumber = ({ js, type }: Code): string =>
  type === 'number' ? js : `lua.toNumber(${js})`;

export const asText = ({ js, type }: Code): string =>
  type === 'string' ? js : `lua.toText(${js})`;

/** @throws LuaError always, with the line */
export function rejectSyntax(node: Base<string>, what: string = node.type): never {
  throw new LuaError(`line ${node.loc?.start.line}: ${what} is not supported`);
}

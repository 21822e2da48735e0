import type { CallExpression } from 'luaparse';
import { asNumber, asText, type Code, code, rejectSyntax } from './lua-code.ts';
import { translatePattern } from './lua-pattern.ts';

/** A call of a global function: the node, and the translated arguments. */
export interface BuiltinCall {
  readonly node: CallExpression;
  readonly values: readonly Code[];
}

type Builtin = (call: BuiltinCall) => Code;

/** Global functions that return one value. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['tonumber', (call) => code(`lua.parse(${one(call).js})`)],
  ['tostring', (call) => code(`lua.describe(${one(call).js})`, 'string')],
  ['type', (call) => code(`lua.typeOf(${one(call).js})`, 'string')],
  ['math.floor', (call) => numeric('floor', [one(call)])],
  ['math.ceil', (call) => numeric('ceil', [one(call)])],
  ['math.abs', (call) => numeric('abs', [one(call)])],
  ['math.max', (call) => numeric('max', atLeast(call, 1))],
  ['math.min', (call) => numeric('min', atLeast(call, 1))],
  ['string.sub', substring],
  ['string.format', format],
  ['string.match', (call) => code(`lua.firstMatch(${subjectAndPattern(call)})`)],
]);

/** Global functions that return several values, as JavaScript arrays. */
export const MULTIPLE_BUILTINS: ReadonlyMap<string, (call: BuiltinCall) => string> = new Map([
  ['string.match', (call: BuiltinCall) => `lua.match(${subjectAndPattern(call)})`],
  [
    'unpack',
    (call: BuiltinCall) => {
      const [table, first = code('1')] = exactly(call, call.values.length === 1 ? 1 : 2);
      return `lua.unpack(${table?.js}, ${first.js})`;
    },
  ],
]);

/** The iterator `string.gmatch`, as a JavaScript array. */
export function matchesOf(call: BuiltinCall): string {
  const pattern = literalOf(call, 1);
  const source = translatePattern(pattern);
  if (pattern.startsWith('^') || pattern.includes('(') || new RegExp(source).test('')) {
    return rejectSyntax(call.node, `string.gmatch with '${pattern}'`);
  }
  return `lua.allMatches(${exactly(call, 2)[0]?.js}, /${source}/g)`;
}

function subjectAndPattern(call: BuiltinCall): string {
  const source = translatePattern(literalOf(call, 1));
  return `${exactly(call, 2)[0]?.js}, /${source}/`;
}

function substring(call: BuiltinCall): Code {
  const [text, first, last = code('-1')] = exactly(call, call.values.length === 2 ? 2 : 3);
  return code(`lua.substring(${text?.js}, ${first?.js}, ${last.js})`, 'string');
}

/** Translates a format with `%d` and `%s` to a concatenation. */
function format(call: BuiltinCall): Code {
  const text = literalOf(call, 0);
  const parts = text.split(/(%.?)/s);
  let used = 1;
  const pieces = parts.map((part) => {
    if (!part.startsWith('%')) return JSON.stringify(part);
    if (part === '%%') return JSON.stringify('%');
    if (part !== '%d' && part !== '%s') return rejectSyntax(call.node, `the format '${text}'`);
    const value = call.values[used] ?? rejectSyntax(call.node, `the format '${text}'`);
    used += 1;
    return part === '%d' ? `lua.formatInteger(${value.js})` : asText(value);
  });
  exactly(call, used);
  return code(`(${pieces.join(' + ')})`, 'string');
}

function numeric(name: string, values: readonly Code[]): Code {
  return code(`Math.${name}(${values.map(asNumber).join(', ')})`, 'number');
}

/** The value of an argument that must be a string literal. */
function literalOf({ node }: BuiltinCall, index: number): string {
  const argument = node.arguments[index];
  return argument?.type === 'StringLiteral'
    ? argument.value
    : rejectSyntax(node, 'a computed text');
}

function one(call: BuiltinCall): Code {
  return exactly(call, 1)[0] as Code;
}

function exactly(call: BuiltinCall, count: number): readonly Code[] {
  if (call.values.length !== count) rejectSyntax(call.node, `${call.values.length} arguments`);
  return call.values;
}

function atLeast(call: BuiltinCall, count: number): readonly Code[] {
  if (call.values.length < count) rejectSyntax(call.node, `${call.values.length} arguments`);
  return call.values;
}

import type {
  BinaryExpression,
  CallExpression,
  Expression,
  FunctionDeclaration,
  LogicalExpression,
  TableConstructorExpression,
  UnaryExpression,
} from 'luaparse';
import { BUILTINS, MULTIPLE_BUILTINS } from './lua-builtins.ts';
import { asNumber, asText, type Code, code, rejectSyntax } from './lua-code.ts';
import { isParenthesized } from './lua-parentheses.ts';
import type { LuaScope } from './lua-scope.ts';

/** Translates a function with its body. */
export type TranslateFunction = (node: FunctionDeclaration, scope: LuaScope) => string;

const ARITHMETIC = new Map([
  ['+', '+'],
  ['-', '-'],
  ['*', '*'],
  ['/', '/'],
]);
const REDIS_CALLS = new Set(['redis.call', 'redis.pcall', 'redis.register_function']);
const REDIS_VALUES = new Set(['REPL_NONE', 'REPL_AOF', 'REPL_REPLICA', 'REPL_ALL']);
/** Values of one type are equal if they are identical. */
const EQUALITY = new Map([
  ['==', '==='],
  ['~=', '!=='],
]);

/** Translates the expressions of a scope to JavaScript. */
export class ExpressionTranslator {
  constructor(
    private readonly scope: LuaScope,
    private readonly translateFunction: TranslateFunction,
  ) {}

  /** An expression as one value. */
  value(node: Expression): Code {
    switch (node.type) {
      case 'NilLiteral':
        return code('undefined');
      case 'BooleanLiteral':
        return code(String(node.value), 'boolean');
      case 'NumericLiteral':
        return code(String(node.value), 'number');
      case 'StringLiteral':
        return code(JSON.stringify(node.value), 'string');
      case 'Identifier':
        return code(this.scope.find(node.name) ?? rejectSyntax(node, `the global ${node.name}`));
      case 'MemberExpression':
      case 'IndexExpression':
        return this.indexed(node);
      case 'BinaryExpression':
        return this.binary(node);
      case 'LogicalExpression':
        return this.logical(node);
      case 'UnaryExpression':
        return this.unary(node);
      case 'CallExpression':
        return this.call(node);
      case 'TableConstructorExpression':
        return this.table(node);
      case 'FunctionDeclaration':
        return code(this.translateFunction(node, this.scope));
      default:
        return rejectSyntax(node);
    }
  }

  /** A list of expressions as elements of a JavaScript array. The last one may have several values. */
  values(nodes: readonly Expression[]): string {
    return nodes
      .map((node, index) => {
        const several = index === nodes.length - 1 ? this.multiple(node) : null;
        return several === null ? this.value(node).js : `...${several}`;
      })
      .join(', ');
  }

  /** A call that has several values, as a JavaScript array; null for other expressions. */
  multiple(node: Expression): string | null {
    if (node.type !== 'CallExpression' || isParenthesized(node)) return null;
    const builtin = MULTIPLE_BUILTINS.get(this.globalName(node.base) ?? '');
    return builtin ? builtin(this.builtinCall(node)) : null;
  }

  /** An expression as a condition of JavaScript. */
  condition(node: Expression): string {
    if (node.type === 'LogicalExpression') {
      const operator = node.operator === 'and' ? '&&' : '||';
      return `(${this.condition(node.left)} ${operator} ${this.condition(node.right)})`;
    }
    if (node.type === 'UnaryExpression' && node.operator === 'not') {
      return `!${this.condition(node.argument)}`;
    }
    const { js, type } = this.value(node);
    if (type === 'boolean') return js;
    return type === 'unknown' ? `lua.isTrue(${js})` : `(${js}, true)`;
  }

  /** The name of a global, such as `string.match`; null for other expressions. */
  globalName(node: Expression): string | null {
    if (node.type === 'Identifier') return this.scope.find(node.name) === null ? node.name : null;
    if (node.type !== 'MemberExpression' || node.indexer !== '.') return null;
    const base = node.base.type === 'Identifier' ? this.globalName(node.base) : null;
    return base === null ? null : `${base}.${node.identifier.name}`;
  }

  /** A call of a global function. A value beyond the first of an argument is an error here. */
  builtinCall(node: CallExpression): { node: CallExpression; values: Code[] } {
    return { node, values: node.arguments.map((argument) => this.value(argument)) };
  }

  /** The table and the key of an indexed expression. */
  tableAndKey(node: Expression): [table: string, key: string] {
    if (node.type === 'IndexExpression') {
      return [`lua.tableOf(${this.value(node.base).js})`, this.value(node.index).js];
    }
    if (node.type !== 'MemberExpression' || node.indexer !== '.') return rejectSyntax(node);
    return [`lua.tableOf(${this.value(node.base).js})`, JSON.stringify(node.identifier.name)];
  }

  private indexed(node: Expression): Code {
    const name = this.globalName(node);
    if (name?.startsWith('redis.') && REDIS_VALUES.has(name.slice(6))) return code(name, 'number');
    const [table, key] = this.tableAndKey(node);
    return code(`${table}.get(${key})`);
  }

  private call(node: CallExpression): Code {
    const name = this.globalName(node.base);
    if (name === null) {
      return code(`lua.functionOf(${this.value(node.base).js})(${this.values(node.arguments)})`);
    }
    if (REDIS_CALLS.has(name)) return code(`${name}(${this.values(node.arguments)})`);
    if (name === 'redis.set_repl' && node.arguments.length === 1) {
      return code(`redis.set_repl(${this.values(node.arguments)})`);
    }
    const builtin = BUILTINS.get(name) ?? rejectSyntax(node, `the function ${name} here`);
    return builtin(this.builtinCall(node));
  }

  private binary({ operator, left, right, ...node }: BinaryExpression): Code {
    const [a, b] = [this.value(left), this.value(right)];
    const arithmetic = ARITHMETIC.get(operator);
    if (arithmetic) return code(`(${asNumber(a)} ${arithmetic} ${asNumber(b)})`, 'number');
    const equality = EQUALITY.get(operator);
    if (equality) return code(`(${a.js} ${equality} ${b.js})`, 'boolean');
    switch (operator) {
      case '%':
        return code(`lua.modulo(${asNumber(a)}, ${asNumber(b)})`, 'number');
      case '..':
        return code(`(${asText(a)} + ${asText(b)})`, 'string');
      case '<':
      case '<=':
        return this.comparison(operator, a, b);
      case '>':
        return this.comparison('<', b, a);
      case '>=':
        return this.comparison('<=', b, a);
      default:
        return rejectSyntax(node, `the operator ${operator}`);
    }
  }

  private comparison(operator: '<' | '<=', a: Code, b: Code): Code {
    const areNumbers = a.type === 'number' && b.type === 'number';
    if (areNumbers) return code(`(${a.js} ${operator} ${b.js})`, 'boolean');
    const name = operator === '<' ? 'isLess' : 'isLessOrEqual';
    return code(`lua.${name}(${a.js}, ${b.js})`, 'boolean');
  }

  private logical({ operator, left, right }: LogicalExpression): Code {
    const [a, b] = [this.value(left), this.value(right)];
    const type = a.type === b.type ? a.type : 'unknown';
    if (type === 'boolean') {
      return code(`(${a.js} ${operator === 'and' ? '&&' : '||'} ${b.js})`, type);
    }
    const first = this.scope.temporary();
    const [then, otherwise] = operator === 'and' ? [b.js, first] : [first, b.js];
    return code(`(lua.isTrue(${first} = ${a.js}) ? ${then} : ${otherwise})`, type);
  }

  private unary({ operator, argument, ...node }: UnaryExpression): Code {
    switch (operator) {
      case 'not':
        return code(`(!${this.condition(argument)})`, 'boolean');
      case '-':
        return code(`(-${asNumber(this.value(argument))})`, 'number');
      case '#':
        return code(`lua.lengthOf(${this.value(argument).js})`, 'number');
      default:
        return rejectSyntax(node, `the operator ${operator}`);
    }
  }

  private table({ fields }: TableConstructorExpression): Code {
    const items = fields.flatMap((field) => (field.type === 'TableValue' ? [field.value] : []));
    const isLastPositional = fields.at(-1)?.type === 'TableValue';
    const array = isLastPositional
      ? this.values(items)
      : items.map((item) => this.value(item).js).join(', ');
    const pairs = fields.flatMap((field) => {
      if (field.type === 'TableValue') return [];
      const key = field.type === 'TableKey' ? this.value(field.key).js : quoted(field.key.name);
      return [`${key}, ${this.value(field.value).js}`];
    });
    return code(`lua.createTable([${array}], [${pairs.join(', ')}])`);
  }
}

const quoted = (text: string): string => JSON.stringify(text);

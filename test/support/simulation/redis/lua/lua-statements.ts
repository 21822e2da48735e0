import type {
  AssignmentStatement,
  CallExpression,
  Expression,
  ForGenericStatement,
  ForNumericStatement,
  FunctionDeclaration,
  IfStatement,
  LocalStatement,
  ReturnStatement,
  Statement,
} from 'luaparse';
import { matchesOf } from './lua-builtins.ts';
import { asNumber, rejectSyntax } from './lua-code.ts';
import { ExpressionTranslator } from './lua-expressions.ts';
import type { LuaScope } from './lua-scope.ts';

/** Translates the statements of a block. @param scope a scope of its own */
export function translateBlock(body: readonly Statement[], scope: LuaScope): string {
  const translator = new StatementTranslator(scope);
  return body.map((node) => translator.statement(node)).join('\n');
}

/** Translates a function with its body. */
function translateFunction(node: FunctionDeclaration, scope: LuaScope): string {
  const inner = scope.function();
  const parameters = node.parameters.map((parameter) =>
    parameter.type === 'Identifier' ? inner.declare(parameter.name) : rejectSyntax(parameter),
  );
  const body = translateBlock(node.body, inner);
  return `function (${parameters.join(', ')}) {\n${inner.declarations()}${body}\n}`;
}

class StatementTranslator {
  private readonly expressions: ExpressionTranslator;

  constructor(private readonly scope: LuaScope) {
    this.expressions = new ExpressionTranslator(scope, translateFunction);
  }

  statement(node: Statement): string {
    switch (node.type) {
      case 'LocalStatement':
        return this.local(node);
      case 'AssignmentStatement':
        return this.assignment(node);
      case 'CallStatement':
        return `${this.expressions.value(node.expression).js};`;
      case 'FunctionDeclaration':
        return this.localFunction(node);
      case 'ReturnStatement':
        return this.returned(node);
      case 'IfStatement':
        return this.condition(node);
      case 'DoStatement':
        return `{\n${this.block(node.body)}\n}`;
      case 'WhileStatement':
        return `while (${this.expressions.condition(node.condition)}) {\n${this.block(node.body)}\n}`;
      case 'ForNumericStatement':
        return this.numericFor(node);
      case 'ForGenericStatement':
        return this.genericFor(node);
      case 'BreakStatement':
        return 'break;';
      default:
        return rejectSyntax(node);
    }
  }

  private block(body: readonly Statement[], scope = this.scope.block()): string {
    return translateBlock(body, scope);
  }

  private local({ variables, init }: LocalStatement): string {
    // The variables are visible after the statement only.
    const values = this.listOf(init, variables.length);
    const names = variables.map(({ name }) => this.scope.declare(name));
    if (Array.isArray(values)) {
      return `let ${names.map((name, index) => `${name} = ${values[index]}`).join(', ')};`;
    }
    return `let [${names.join(', ')}] = ${values};`;
  }

  private assignment({ variables, init }: AssignmentStatement): string {
    const values = this.listOf(init, variables.length);
    if (!Array.isArray(values)) return rejectSyntax(variables[0] as Expression, 'an assignment');
    if (variables.length === 1)
      return `${this.assign(variables[0] as Expression, values[0] ?? '')};`;
    const names = variables.map(() => this.scope.temporary());
    return [
      ...names.map((name, index) => `${name} = ${values[index]};`),
      ...variables.map((variable, index) => `${this.assign(variable, names[index] ?? '')};`),
    ].join('\n');
  }

  private assign(variable: Expression, value: string): string {
    if (variable.type === 'Identifier') {
      const name = this.scope.find(variable.name);
      return `${name ?? rejectSyntax(variable, `the global ${variable.name}`)} = ${value}`;
    }
    const [table, key] = this.expressions.tableAndKey(variable);
    return `${table}.set(${key}, ${value})`;
  }

  /** As many values as variables; or a JavaScript array, when a call returns all of them. */
  private listOf(init: readonly Expression[], count: number): string[] | string {
    const [first] = init;
    const several =
      init.length === 1 && first && count > 1 ? this.expressions.multiple(first) : null;
    if (several !== null) return several;
    if (init.length > count) rejectSyntax(init[count] as Expression, 'a value without a variable');
    const last = init.at(-1);
    if (last && init.length < count && last.type === 'CallExpression') rejectSyntax(last);
    return Array.from({ length: count }, (_, index) => {
      const node = init[index];
      return node ? this.expressions.value(node).js : 'undefined';
    });
  }

  private localFunction(node: FunctionDeclaration): string {
    if (!node.isLocal || node.identifier?.type !== 'Identifier') return rejectSyntax(node);
    // The function is visible in its body.
    const name = this.scope.declare(node.identifier.name);
    return `const ${name} = ${translateFunction(node, this.scope)};`;
  }

  private returned(node: ReturnStatement): string {
    const [value, ...others] = node.arguments;
    if (others.length > 0) return rejectSyntax(node, 'a return of several values');
    if (value === undefined) return 'return;';
    if (this.expressions.multiple(value) !== null) return rejectSyntax(node, 'this return');
    return `return ${this.expressions.value(value).js};`;
  }

  private condition({ clauses }: IfStatement): string {
    return clauses
      .map((clause) => {
        const body = `{\n${this.block(clause.body)}\n}`;
        if (clause.type === 'ElseClause') return `else ${body}`;
        const keyword = clause.type === 'IfClause' ? 'if' : 'else if';
        return `${keyword} (${this.expressions.condition(clause.condition)}) ${body}`;
      })
      .join(' ');
  }

  private numericFor({ variable, start, end, step, body }: ForNumericStatement): string {
    const first = asNumber(this.expressions.value(start));
    const last = asNumber(this.expressions.value(end));
    const by = step === null ? '1' : asNumber(this.expressions.value(step));
    const inner = this.scope.block();
    const name = inner.declare(variable.name);
    const [at, to, stride] = ['at', 'to', 'stride'].map((part) => inner.reserve(part));
    return [
      `for (let ${at} = ${first}, ${to} = ${last}, ${stride} = lua.checkStep(${by});`,
      `${stride} > 0 ? ${at} <= ${to} : ${at} >= ${to}; ${at} += ${stride}) {`,
      // The body may assign to the variable.
      `let ${name} = ${at};`,
      this.block(body, inner),
      '}',
    ].join('\n');
  }

  private genericFor({ variables, iterators, body }: ForGenericStatement): string {
    const [iterator] = iterators;
    if (iterators.length !== 1 || iterator?.type !== 'CallExpression') {
      return rejectSyntax(variables[0] as Expression, 'an iterator');
    }
    const source = this.iteration(iterator);
    const inner = this.scope.block();
    const names = variables.map(({ name }) => inner.declare(name));
    const name = this.expressions.globalName(iterator.base);
    if (names.length > (name === 'string.gmatch' ? 1 : 2)) {
      return rejectSyntax(iterator, 'a third variable');
    }
    const block = this.block(body, inner);
    if (name !== 'ipairs') {
      const target = name === 'pairs' ? `[${names.join(', ')}]` : names[0];
      return `for (let ${target} of ${source}) {\n${block}\n}`;
    }
    const [items, at] = [inner.reserve('items'), inner.reserve('at')];
    const values = [`${at} + 1`, `${items}[${at}]`];
    return [
      `for (let ${items} = ${source}, ${at} = 0; ${at} < ${items}.length; ${at} += 1) {`,
      `let ${names.map((variable, index) => `${variable} = ${values[index]}`).join(', ')};`,
      block,
      '}',
    ].join('\n');
  }

  private iteration(node: CallExpression): string {
    const name = this.expressions.globalName(node.base);
    const call = this.expressions.builtinCall(node);
    if (name === 'string.gmatch') return matchesOf(call);
    const [table, ...others] = call.values;
    if (!table || others.length > 0) return rejectSyntax(node);
    if (name === 'pairs') return `lua.tableOf(${table.js}).pairs()`;
    if (name === 'ipairs') return `lua.tableOf(${table.js}).items`;
    return rejectSyntax(node, `the iterator ${name}`);
  }
}

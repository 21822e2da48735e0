import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

/**
 * The part of Go's templates, and of the functions that Helm adds, that the chart in `deploy/helm`
 * uses. It is here because Helm is not on every machine that runs the tests. What it does not know
 * is an error, never silence.
 */
export class Templates {
  private readonly named = new Map<string, Node[]>();

  /** Adds a file by the name under which `include` finds it, and every `define` in it. */
  add(name: string, text: string): void {
    const reader = new Reader(tokensOf(text), this.named);
    this.named.set(name, reader.nodes());
    if (reader.stop !== null) throw new Error(`${name}: unexpected ${reader.stop}`);
  }

  /** The text that a file makes of its data. @throws Error for what `required` asks for */
  render(name: string, data: unknown): string {
    const nodes = this.named.get(name);
    if (!nodes) throw new Error(`there is no template ${name}`);
    return this.run(nodes, data, new Map([['$', data]]));
  }

  private run(nodes: readonly Node[], dot: unknown, outer: Scope): string {
    const scope: Scope = new Map(outer);
    return nodes.map((node) => this.one(node, dot, scope)).join('');
  }

  private one(node: Node, dot: unknown, scope: Scope): string {
    if (node.kind === 'text') return node.text;
    const value = this.value(node.pipeline, dot, scope);
    if (node.kind === 'set') {
      scope.set(node.name, value);
      return '';
    }
    if (node.kind === 'print') return printed(value);
    if (node.kind === 'range') {
      return entriesOf(value)
        .map(([key, item]) => {
          const inner = new Map(scope);
          if (node.key !== null) inner.set(node.key, key);
          if (node.item !== null) inner.set(node.item, item);
          return this.run(node.body, item, inner);
        })
        .join('');
    }
    if (isEmpty(value)) return this.run(node.otherwise, dot, scope);
    return this.run(node.body, node.kind === 'with' ? value : dot, scope);
  }

  private value(pipeline: Pipeline, dot: unknown, scope: Scope): unknown {
    let last: unknown[] = [];
    for (const [head, ...rest] of pipeline) {
      const operand = (one: Operand | undefined) => this.operand(one, dot, scope);
      const args = [...rest.map(operand), ...last];
      last = [head?.kind === 'call' ? this.call(head.name, args) : operand(head)];
    }
    return last[0];
  }

  private operand(operand: Operand | undefined, dot: unknown, scope: Scope): unknown {
    switch (operand?.kind) {
      case 'literal':
        return operand.value;
      case 'call':
        return this.call(operand.name, []);
      case 'inner':
        return this.value(operand.pipeline, dot, scope);
      case 'path': {
        if (operand.from !== null && !scope.has(operand.from)) {
          throw new Error(`unknown variable ${operand.from}`);
        }
        const start = operand.from === null ? dot : scope.get(operand.from);
        return operand.members.reduce((value, member) => memberOf(value, member), start);
      }
      default:
        throw new Error('an action is empty');
    }
  }

  private call(name: string, args: readonly unknown[]): unknown {
    if (name === 'include') return this.render(String(args[0]), args[1]);
    const called = FUNCTIONS[name];
    if (!called) throw new Error(`unknown function ${name}`);
    return called(...args);
  }
}

type Scope = Map<string, unknown>;
/** Commands; each takes the value of the one before as its last argument. */
type Pipeline = Operand[][];
type Operand =
  | { kind: 'literal'; value: unknown }
  | { kind: 'path'; from: string | null; members: string[] }
  | { kind: 'call'; name: string }
  | { kind: 'inner'; pipeline: Pipeline };
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'print'; pipeline: Pipeline }
  | { kind: 'set'; name: string; pipeline: Pipeline }
  | { kind: 'if' | 'with'; pipeline: Pipeline; body: Node[]; otherwise: Node[] }
  | { kind: 'range'; key: string | null; item: string | null; pipeline: Pipeline; body: Node[] };
type Token = { text: string } | { action: string };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let trims = false;
  for (const match of text.matchAll(/\{\{(-?)\s*(\/\*[\s\S]*?\*\/|[\s\S]*?)\s*?(-?)\}\}/g)) {
    const before = text.slice(at, match.index);
    const started = trims ? before.trimStart() : before;
    tokens.push({ text: match[1] ? started.trimEnd() : started });
    const action = (match[2] ?? '').trim();
    if (!action.startsWith('/*')) tokens.push({ action });
    trims = match[3] === '-';
    at = match.index + match[0].length;
  }
  const rest = text.slice(at);
  return [...tokens, { text: trims ? rest.trimStart() : rest }];
}

/** Reads nodes up to an `end` or `else` that is not its own, which is then in `stop`. */
class Reader {
  stop: string | null = null;
  private at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly named: Map<string, Node[]>,
  ) {}

  nodes(): Node[] {
    const nodes: Node[] = [];
    for (let token = this.tokens[this.at++]; token; token = this.tokens[this.at++]) {
      if ('text' in token) {
        nodes.push({ kind: 'text', text: token.text });
        continue;
      }
      const { action } = token;
      const word = /^[a-z]+\b/.exec(action)?.[0] ?? '';
      if (word === 'end' || word === 'else') {
        this.stop = action;
        return nodes;
      }
      const node = this.node(word, action);
      if (node) nodes.push(node);
    }
    this.stop = null;
    return nodes;
  }

  private node(word: string, action: string): Node | null {
    const rest = action.slice(word.length).trim();
    if (word === 'define') {
      const body = this.body();
      this.named.set(JSON.parse(rest), body);
      return null;
    }
    if (word === 'if' || word === 'with') return this.branch(word, rest);
    if (word === 'range') {
      const match = /^(?:(\$\w+),\s*)?(\$\w+)\s*:=\s*([\s\S]*)$/.exec(rest);
      const pipeline = pipelineOf(match?.[3] ?? rest);
      const names = { key: match?.[1] ?? null, item: match?.[2] ?? null };
      return { kind: 'range', ...names, pipeline, body: this.body() };
    }
    const set = /^(\$\w+)\s*:=\s*([\s\S]*)$/.exec(action);
    if (set) return { kind: 'set', name: set[1] ?? '', pipeline: pipelineOf(set[2] ?? '') };
    return { kind: 'print', pipeline: pipelineOf(action) };
  }

  private branch(kind: 'if' | 'with', condition: string): Node {
    const pipeline = pipelineOf(condition);
    const body = this.nodes();
    const stop = this.stop ?? '';
    const elseIf = /^else if ([\s\S]*)$/.exec(stop);
    if (elseIf) return { kind, pipeline, body, otherwise: [this.branch('if', elseIf[1] ?? '')] };
    const otherwise = stop === 'else' ? this.nodes() : [];
    if (this.stop !== 'end') throw new Error(`{{ ${kind} ${condition} }} has no end`);
    return { kind, pipeline, body, otherwise };
  }

  private body(): Node[] {
    const body = this.nodes();
    if (this.stop !== 'end') throw new Error(`expected {{ end }}, got ${this.stop}`);
    return body;
  }
}

const WORD = /\s*("(?:[^"\\]|\\.)*"|\||\(|\)|-?\d+(?:\.\d+)?|\$?\w*(?:\.\w+)+|\$\w*|\w+|\.)/y;

function pipelineOf(text: string): Pipeline {
  const words: string[] = [];
  WORD.lastIndex = 0;
  while (text.slice(WORD.lastIndex).trim() !== '') {
    const from = WORD.lastIndex;
    const word = WORD.exec(text)?.[1];
    if (word === undefined) throw new Error(`cannot read {{ ${text} }} at ${text.slice(from)}`);
    words.push(word);
  }
  const pipeline = read(words);
  if (words.length > 0) throw new Error(`too many closing brackets in {{ ${text} }}`);
  return pipeline;
}

/** Takes words up to the bracket that closes this pipeline. */
function read(words: string[]): Pipeline {
  const pipeline: Pipeline = [[]];
  while (words.length > 0 && words[0] !== ')') {
    const word = words.shift() as string;
    if (word === '|') pipeline.push([]);
    else if (word === '(') {
      pipeline.at(-1)?.push({ kind: 'inner', pipeline: read(words) });
      if (words.shift() !== ')') throw new Error('a bracket is not closed');
    } else pipeline.at(-1)?.push(operandOf(word));
  }
  return pipeline;
}

function operandOf(word: string): Operand {
  if (/^["\d-]/.test(word) || word === 'true' || word === 'false') {
    return { kind: 'literal', value: JSON.parse(word) };
  }
  const [from = '', ...members] = word.split('.');
  if (from !== '' && !from.startsWith('$')) return { kind: 'call', name: word };
  return {
    kind: 'path',
    from: from === '' ? null : from,
    members: members.filter((name) => name !== ''),
  };
}

function memberOf(value: unknown, member: string): unknown {
  if (value === null || value === undefined) throw new Error(`nothing has no member ${member}`);
  return (value as Record<string, unknown>)[member];
}

function entriesOf(value: unknown): [unknown, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  return Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

function isEmpty(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0);
}

const printed = (value: unknown) => (value === null || value === undefined ? '' : String(value));

const FUNCTIONS: Record<string, (...args: unknown[]) => unknown> = {
  and: (...values) => values.find(isEmpty) ?? values.at(-1),
  or: (...values) => values.find((value) => !isEmpty(value)) ?? values.at(-1),
  not: isEmpty,
  default: (fallback, value) => (isEmpty(value) ? fallback : value),
  required: (message, value) => {
    if (value === '' || value === null || value === undefined) throw new Error(String(message));
    return value;
  },
  quote: (value) => JSON.stringify(printed(value)),
  print: (...values) => values.map(printed).join(''),
  printf: (format, ...values) => {
    let next = 0;
    return String(format).replace(/%s/g, () => printed(values[next++]));
  },
  contains: (part, text) => String(text).includes(String(part)),
  trunc: (length, text) => String(text).slice(0, Number(length)),
  trimSuffix: (suffix, text) =>
    String(text).endsWith(String(suffix))
      ? String(text).slice(0, -String(suffix).length)
      : String(text),
  nindent: (spaces, text) => `\n${String(text).replace(/^/gm, ' '.repeat(Number(spaces)))}`,
  toYaml: (value) => stringify(value, { sortMapEntries: true, lineWidth: 0 }).trimEnd(),
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  index: (list, at) => (list as unknown[])[Number(at)],
};

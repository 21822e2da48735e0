import type { CallExpression, Node } from 'luaparse';

const KEYWORD = /\b(?:and|do|else|elseif|if|in|not|or|return|then|until|while)$/;
/** The end of an expression that may be called. */
const CALLED = /[\w\])"']$/;

const parenthesized = new WeakSet<Node>();

/** Notes calls in parentheses, which the syntax tree does not show: `(f())` has one value, `f()` all. */
export function noteParentheses(node: Node, source: string): void {
  if (node.type !== 'CallExpression' || !('range' in node)) return;
  const [start] = node.range as [number, number];
  const before = source.slice(0, start).trimEnd();
  if (!before.endsWith('(')) return;
  const outside = before.slice(0, -1).trimEnd();
  if (KEYWORD.test(outside) || !CALLED.test(outside)) parenthesized.add(node);
}

export function isParenthesized(node: CallExpression): boolean {
  return parenthesized.has(node);
}

import type { ChatKind } from '../../sdk/types.ts';
import type { Line } from './chat-items.ts';

/** What this viewer wrote, until it is on screen: the picture may be seconds behind. */
export interface OwnLine {
  readonly id: string;
  readonly kind: ChatKind;
  readonly name: string;
  readonly text: string;
  /** Lines that were on screen before it was written. */
  readonly before: ReadonlySet<string>;
  /** By `performance.now()`. */
  readonly writtenMs: number;
}

/** @returns those that are not on screen yet; the same array when all are not */
export function notOnScreen(own: readonly OwnLine[], lines: readonly Line[]): readonly OwnLine[] {
  const waiting = own.filter((mine) => !lines.some((line) => isOf(line, mine)));
  return waiting.length === own.length ? own : waiting;
}

/** The page does not know what the service calls this viewer: it goes by what was written. */
function isOf(line: Line, own: OwnLine): boolean {
  return (
    line.text === own.text &&
    line.kind === own.kind &&
    line.name === own.name &&
    !own.before.has(line.id)
  );
}

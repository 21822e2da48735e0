import type { Segment } from '../segment.ts';

/** The newest segments without a hole in their numbers, or the most that have none. */
export function runOf(segments: readonly Segment[], isLongest: boolean): readonly Segment[] {
  let best: readonly Segment[] = [];
  let from = 0;
  for (let to = 1; to <= segments.length; to++) {
    if (segments[to]?.seq === (segments[to - 1]?.seq ?? 0) + 1) continue;
    const run = segments.slice(from, to);
    if (!isLongest || run.length >= best.length) best = run;
    from = to;
  }
  return best;
}

import type { HlsMediaPlaylist, HlsSegment } from './hls-parser.ts';
import { GAP_MS } from './hls-playlist-rules.ts';
import type { Findings } from './violation.ts';

/** Rules for changes between two reloads of a media playlist (RFC 8216, 6.2.1 and 6.2.2). */
export function checkReload(
  name: string,
  before: HlsMediaPlaylist,
  after: HlsMediaPlaylist,
  findings: Findings,
): void {
  const same = (rule: string, a: unknown, b: unknown) =>
    findings.check(JSON.stringify(a) === JSON.stringify(b), rule, `${name}: ${a} became ${b}`);
  same('target-duration-changed', before.targetS, after.targetS);
  same('part-target-changed', before.partTargetS, after.partTargetS);
  same('server-control-changed', text(before), text(after));
  same('playlist-type-changed', before.type, after.type);
  const removed = after.mediaSequence - before.mediaSequence;
  findings.check(removed >= 0, 'media-sequence', `${name} went back by ${-removed}`);
  findings.check(
    before.type !== 'EVENT' || removed === 0,
    'event-removed',
    `${name} lost ${removed} segments`,
  );
  const lastBefore = before.segments.at(-1)?.seq ?? -1;
  const lastAfter = after.segments.at(-1)?.seq ?? -1;
  findings.check(
    lastAfter >= lastBefore,
    'removed-at-the-end',
    `${name}: ${lastBefore} was removed`,
  );
  if (before.isEnded) {
    const isSame = after.isEnded && lastAfter === lastBefore && removed === 0;
    findings.check(isSame, 'after-endlist', `${name} continued after its end`);
  }
  findings.check(
    after.discontinuitySequence >= before.discontinuitySequence,
    'discontinuity-sequence',
    `${name} went back to ${after.discontinuitySequence}`,
  );
  if (removed > 0) {
    const durationS = after.segments.reduce((sum, { durationS }) => sum + durationS, 0);
    const holds = after.isEnded || durationS >= 3 * after.targetS;
    findings.check(holds, 'too-short', `${name}: removed to ${durationS} s`);
  }
  const previousBySeq = new Map(before.segments.map((segment) => [segment.seq, segment]));
  for (const segment of after.segments) {
    const previous = previousBySeq.get(segment.seq);
    if (!previous) continue;
    const { discontinuity, seq } = segment;
    const detail = `${name} ${seq}: ${previous.discontinuity} became ${discontinuity}`;
    findings.check(discontinuity === previous.discontinuity, 'discontinuity-sequence', detail);
    const isSame =
      segment.isGap === previous.isGap
        ? fingerprint(segment) === fingerprint(previous)
        : isLost(previous, segment);
    findings.check(isSame, 'segment-changed', `${name} ${seq}: ${fingerprint(segment)}`);
  }
}

/** Whether a segment was replaced by a gap. */
function isLost(before: HlsSegment, after: HlsSegment): boolean {
  return (
    after.isGap &&
    after.uri === before.uri &&
    Math.abs((after.dateMs ?? 0) - (before.dateMs ?? 0)) <= GAP_MS &&
    Math.abs(after.durationS - before.durationS) * 1_000 <= GAP_MS
  );
}

function fingerprint({ uri, durationS, dateMs, map }: HlsSegment): string {
  return JSON.stringify({ uri, durationS, dateMs, map });
}

function text({ control }: HlsMediaPlaylist): string {
  return JSON.stringify([...(control ?? [])].sort());
}

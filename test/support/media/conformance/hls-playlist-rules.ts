import type { HlsMediaPlaylist, HlsPart, HlsSegment } from './hls-parser.ts';
import type { Findings } from './violation.ts';

// Rounding error of printed decimals, s.
const ROUNDING_S = 1e-6;
/** Tolerance of gaps, ms: a gap has the times of the video, but audio is cut between fragments. */
export const GAP_MS = 100;

/** Rules for a single media playlist (RFC 8216, section 4; 8216bis, section 4). */
export function checkText(name: string, playlist: HlsMediaPlaylist, findings: Findings): void {
  const { version, segments, skipped, type, targetS, isIndependent } = playlist;
  const needed = Math.max(
    segments.some(({ map }) => map !== null) ? 6 : 3,
    segments.some(({ isGap }) => isGap) ? 8 : 3,
    skipped > 0 ? 9 : 3,
  );
  findings.check(version >= needed, 'version', `${name}: ${version}, it needs ${needed}`);
  findings.check(
    type === null || type === 'EVENT' || type === 'VOD',
    'playlist-type',
    `${name}: ${type}`,
  );
  findings.check(isIndependent, 'independent-segments', `${name} lacks the tag`);
  for (const { seq, durationS, dateMs, map } of segments) {
    const location = `${name} ${seq}`;
    const rounded = Math.round(durationS);
    findings.check(rounded <= targetS, 'target-duration', `${location}: ${durationS} > ${targetS}`);
    findings.check(dateMs !== null, 'program-date-time', `${location} has none`);
    // The tag may be in the skipped part.
    findings.check(map !== null || skipped > 0, 'map', `${location} has none`);
  }
  for (const [before, after] of pairs(segments)) {
    const isSame = before.map === after.map || before.map === null;
    const isEpoch = before.discontinuity !== after.discontinuity;
    findings.check(isSame || isEpoch, 'map', `${name} ${after.seq}: another without discontinuity`);
  }
  checkGaps(name, segments, findings);
  checkControl(name, playlist, findings);
  checkParts(name, playlist, findings);
}

/** Dates are continuous over gaps. Between existing segments, their bytes are checked instead. */
function checkGaps(name: string, segments: readonly HlsSegment[], findings: Findings): void {
  for (const [before, after] of pairs(segments)) {
    if (!before.isGap && !after.isGap) continue;
    const stepMs = (after.dateMs ?? 0) - (before.dateMs ?? 0) - before.durationS * 1_000;
    const isEpoch = before.discontinuity !== after.discontinuity;
    const holds = stepMs >= -GAP_MS && (isEpoch || stepMs <= GAP_MS);
    findings.check(holds, 'gap-date', `${name} ${after.seq} is ${stepMs} ms off`);
  }
}

/** All pairs of successive elements. */
export function pairs<T>(all: readonly T[]): [T, T][] {
  return all.slice(1).map((after, i): [T, T] => [all[i] as T, after]);
}

/**
 * A delta update skips only segments before the skip boundary, and otherwise equals the full playlist
 * (8216bis, 6.2.5.1).
 */
export function checkDelta(
  name: string,
  full: HlsMediaPlaylist,
  delta: HlsMediaPlaylist,
  findings: Findings,
): void {
  const { skipped } = delta;
  if (!findings.check(skipped > 0, 'skip', `${name} skips nothing`)) return;
  const untilS = Number(full.control?.get('CAN-SKIP-UNTIL'));
  const remaining = full.segments.slice(skipped);
  const remainingS = totalDurationS(remaining) + totalDurationS(full.openParts);
  findings.check(remainingS >= untilS, 'skip', `${name} keeps ${remainingS} of ${untilS} s`);
  const isSame =
    delta.mediaSequence === full.mediaSequence &&
    fingerprint(delta.segments) === fingerprint(remaining) &&
    fingerprint(delta.openParts) === fingerprint(full.openParts);
  findings.check(isSame, 'skip', `${name} differs from the full playlist`);
}

// Without `EXT-X-MAP` and absolute discontinuities, which are lost with skipped segments.
function fingerprint(all: readonly (HlsSegment | HlsPart)[]): string {
  const first = all[0];
  const from = first && 'discontinuity' in first ? first.discontinuity : 0;
  return JSON.stringify(
    all.map((entry) =>
      'seq' in entry ? { ...entry, map: null, discontinuity: entry.discontinuity - from } : entry,
    ),
  );
}

function checkControl(name: string, playlist: HlsMediaPlaylist, findings: Findings): void {
  const { control, targetS, partTargetS, segments, openParts, version } = playlist;
  const atLeast = (key: string, value: number) => {
    const stated = control?.get(key);
    if (stated === undefined) return;
    const holds = Number(stated) >= value - ROUNDING_S;
    findings.check(holds, 'server-control', `${name}: ${key}=${stated}, at least ${value}`);
  };
  atLeast('HOLD-BACK', 3 * targetS);
  atLeast('CAN-SKIP-UNTIL', 6 * targetS);
  const hasParts = openParts.length > 0 || segments.some(({ parts }) => parts.length > 0);
  if (partTargetS === null) {
    findings.check(!hasParts, 'part-inf', `${name} has parts without EXT-X-PART-INF`);
    return;
  }
  atLeast('PART-HOLD-BACK', 2 * partTargetS);
  const hasPartHoldBack = control?.has('PART-HOLD-BACK') === true;
  findings.check(hasPartHoldBack, 'server-control', `${name}: PART-HOLD-BACK is missing`);
  findings.check(version >= 6, 'version', `${name}: ${version} with parts`);
}

function checkParts(name: string, playlist: HlsMediaPlaylist, findings: Findings): void {
  const { segments, openParts, partTargetS, targetS, isEnded, hint } = playlist;
  if (partTargetS === null) return;
  let fromEndS = totalDurationS(openParts);
  for (const { seq, parts, durationS } of segments.toReversed()) {
    const isOld = fromEndS >= 3 * targetS + 1;
    findings.check(!isOld || parts.length === 0, 'part-old', `${name} ${seq} has old parts`);
    fromEndS += durationS;
    if (parts.length === 0) continue;
    checkLengths(`${name} ${seq}`, parts, partTargetS, true, findings);
    // Parts do not include the step of the timeline, at most 1 ms.
    const errorS = Math.abs(totalDurationS(parts) - durationS);
    findings.check(errorS < 0.00101, 'part-sum', `${name} ${seq}: parts are off by ${errorS} s`);
  }
  checkLengths(`${name} open`, openParts, partTargetS, false, findings);
  if (isEnded) return;
  const uris = [...segments.flatMap(({ parts }) => parts), ...openParts].map(({ uri }) => uri);
  findings.check(hint !== null && !uris.includes(hint), 'preload-hint', `${name}: ${hint}`);
}

function checkLengths(
  name: string,
  parts: readonly HlsPart[],
  targetS: number,
  isComplete: boolean,
  findings: Findings,
): void {
  for (const [i, { durationS }] of parts.entries()) {
    const detail = `${name}.${i}: ${durationS} of ${targetS} s`;
    findings.check(durationS <= targetS + ROUNDING_S, 'part-target', detail);
    // The last part of a segment may be shorter, also in an open segment.
    const isLast = i === parts.length - 1;
    findings.check(isLast || durationS >= 0.85 * targetS, 'part-short', detail);
  }
  if (isComplete) findings.check(parts[0]?.isIndependent === true, 'part-independent', name);
}

function totalDurationS(all: readonly { readonly durationS: number }[]): number {
  return all.reduce((sum, { durationS }) => sum + durationS, 0);
}

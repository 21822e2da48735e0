import type { HlsMediaText, HlsPart, HlsSegment } from './hls-text.ts';
import type { Findings } from './violation.ts';

// What a printed decimal may be off by, s.
const PRINTED_S = 1e-6;
/** A gap has the times of the picture, also where sound was cut at the fragment that is nearest. */
export const GAP_MS = 100;

/** Rules that one media playlist follows by itself (RFC 8216, section 4; 8216bis, section 4). */
export function checkText(name: string, playlist: HlsMediaText, findings: Findings): void {
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
  findings.check(isIndependent, 'independent-segments', `${name} does not say so`);
  for (const { seq, durationS, dateMs, map } of segments) {
    const where = `${name} ${seq}`;
    const rounded = Math.round(durationS);
    findings.check(rounded <= targetS, 'target-duration', `${where}: ${durationS} > ${targetS}`);
    findings.check(dateMs !== null, 'program-date-time', `${where} has none`);
    // What was skipped may have said it.
    findings.check(map !== null || skipped > 0, 'map', `${where} has none`);
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

/** Time goes on through gaps; what is between segments that are there their bytes tell. */
function checkGaps(name: string, segments: readonly HlsSegment[], findings: Findings): void {
  for (const [before, after] of pairs(segments)) {
    if (!before.isGap && !after.isGap) continue;
    const stepMs = (after.dateMs ?? 0) - (before.dateMs ?? 0) - before.durationS * 1_000;
    const isEpoch = before.discontinuity !== after.discontinuity;
    const holds = stepMs >= -GAP_MS && (isEpoch || stepMs <= GAP_MS);
    findings.check(holds, 'gap-date', `${name} ${after.seq} is ${stepMs} ms off`);
  }
}

/** Two elements that follow each other. */
export function pairs<T>(all: readonly T[]): [T, T][] {
  return all.slice(1).map((after, i): [T, T] => [all[i] as T, after]);
}

/**
 * A delta update leaves out only segments from before the skip boundary, and is otherwise the same
 * (8216bis, 6.2.5.1).
 */
export function checkDelta(
  name: string,
  full: HlsMediaText,
  delta: HlsMediaText,
  findings: Findings,
): void {
  const { skipped } = delta;
  if (!findings.check(skipped > 0, 'skip', `${name} leaves out nothing`)) return;
  const untilS = Number(full.control?.get('CAN-SKIP-UNTIL'));
  const kept = full.segments.slice(skipped);
  const keptS = lasting(kept) + lasting(full.openParts);
  findings.check(keptS >= untilS, 'skip', `${name} keeps ${keptS} of ${untilS} s`);
  const isSame =
    delta.mediaSequence === full.mediaSequence &&
    said(delta.segments) === said(kept) &&
    said(delta.openParts) === said(full.openParts);
  findings.check(isSame, 'skip', `${name} is not what the whole playlist says`);
}

// What was left out takes along its `EXT-X-MAP` and its discontinuities.
function said(all: readonly (HlsSegment | HlsPart)[]): string {
  const first = all[0];
  const from = first && 'discontinuity' in first ? first.discontinuity : 0;
  return JSON.stringify(
    all.map((one) =>
      'seq' in one ? { ...one, map: null, discontinuity: one.discontinuity - from } : one,
    ),
  );
}

function checkControl(name: string, playlist: HlsMediaText, findings: Findings): void {
  const { control, targetS, partTargetS, segments, openParts, version } = playlist;
  const least = (key: string, value: number) => {
    const given = control?.get(key);
    if (given === undefined) return;
    const holds = Number(given) >= value - PRINTED_S;
    findings.check(holds, 'server-control', `${name}: ${key}=${given}, at least ${value}`);
  };
  least('HOLD-BACK', 3 * targetS);
  least('CAN-SKIP-UNTIL', 6 * targetS);
  const hasParts = openParts.length > 0 || segments.some(({ parts }) => parts.length > 0);
  if (partTargetS === null) {
    findings.check(!hasParts, 'part-inf', `${name} has parts, and does not say how long they are`);
    return;
  }
  least('PART-HOLD-BACK', 2 * partTargetS);
  const isSaid = control?.has('PART-HOLD-BACK') === true;
  findings.check(isSaid, 'server-control', `${name}: PART-HOLD-BACK is missing`);
  findings.check(version >= 6, 'version', `${name}: ${version} with parts`);
}

function checkParts(name: string, playlist: HlsMediaText, findings: Findings): void {
  const { segments, openParts, partTargetS, targetS, isEnded, hint } = playlist;
  if (partTargetS === null) return;
  let fromEndS = lasting(openParts);
  for (const { seq, parts, durationS } of segments.toReversed()) {
    const isOld = fromEndS >= 3 * targetS + 1;
    findings.check(!isOld || parts.length === 0, 'part-old', `${name} ${seq} has old parts`);
    fromEndS += durationS;
    if (parts.length === 0) continue;
    checkLengths(`${name} ${seq}`, parts, partTargetS, true, findings);
    // A step of the timeline is in the segment alone.
    const off = Math.abs(lasting(parts) - durationS);
    findings.check(off < 0.00101, 'part-sum', `${name} ${seq}: parts are off by ${off} s`);
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
  isWhole: boolean,
  findings: Findings,
): void {
  for (const [i, { durationS }] of parts.entries()) {
    const detail = `${name}.${i}: ${durationS} of ${targetS} s`;
    findings.check(durationS <= targetS + PRINTED_S, 'part-target', detail);
    // The last of an open segment may turn out to be its last.
    const isLast = i === parts.length - 1;
    findings.check(isLast || durationS >= 0.85 * targetS, 'part-short', detail);
  }
  if (isWhole) findings.check(parts[0]?.isIndependent === true, 'part-independent', name);
}

function lasting(all: readonly { readonly durationS: number }[]): number {
  return all.reduce((sum, { durationS }) => sum + durationS, 0);
}

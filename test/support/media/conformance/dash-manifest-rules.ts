import { type DashManifest, type DashPeriod, type DashSet, secondsIn } from './dash-parser.ts';
import type { Findings } from './violation.ts';

// ISO/IEC 23009-1, 5.3.1.3: order of the children of MPD.
const ORDER = [
  'ProgramInformation',
  'BaseURL',
  'Location',
  'PatchLocation',
  'ServiceDescription',
  'Period',
  'Metrics',
  'EssentialProperty',
  'SupplementalProperty',
  'UTCTiming',
];
/** Allowed step of the timeline, ms: 1 ms plus rounding to µs. */
export const STEP_MS = 1.06;

/** Whether a manifest is live. */
export function isDynamic({ attributes }: DashManifest): boolean {
  return attributes.get('type') === 'dynamic';
}

/** Unix time of presentation time 0, ms. */
export function zeroMsOf({ attributes }: DashManifest): number {
  return Date.parse(attributes.get('availabilityStartTime') ?? '');
}

/** Rules for a single manifest (ISO/IEC 23009-1, 5.3; DASH-IF IOP, live services). */
export function checkText(manifest: DashManifest, findings: Findings): void {
  checkAttributes(manifest, findings);
  const positions = manifest.order.map((name) => ORDER.indexOf(name));
  const isOrdered = positions.every((position, i) => position >= (positions[i - 1] ?? 0));
  findings.check(isOrdered, 'order', manifest.order.join(' '));
  const { periods } = manifest;
  findings.check(periods.length > 0, 'periods', 'missing');
  const ids = periods.map(({ id }) => id);
  const isNamed = new Set(ids).size === ids.length && !ids.includes('');
  findings.check(isNamed, 'period-id', ids.join(' '));
  if (!isDynamic(manifest)) {
    findings.check(
      periods[0]?.startS === 0,
      'period-start',
      `the first is at ${periods[0]?.startS}`,
    );
  }
  for (const [i, period] of periods.entries()) {
    const nextS = periods[i + 1]?.startS ?? endS(manifest);
    findings.check(period.startS < nextS, 'period-start', `${period.id}: ${period.startS}`);
    checkPeriod(period, nextS, findings);
  }
}

function endS(manifest: DashManifest): number {
  if (isDynamic(manifest)) return Number.POSITIVE_INFINITY;
  return secondsIn(manifest.attributes.get('mediaPresentationDuration'));
}

function checkAttributes(manifest: DashManifest, findings: Findings): void {
  const { attributes, timing } = manifest;
  const dynamic = isDynamic(manifest);
  const type = attributes.get('type');
  findings.check(dynamic || type === 'static', 'type', `${type}`);
  const profiles = attributes.get('profiles') ?? '';
  findings.check(profiles.includes('urn:mpeg:dash:profile:isoff-live:2011'), 'profile', profiles);
  const duration = (key: string) => {
    const value = attributes.get(key);
    findings.check(secondsIn(value) > 0, 'duration', `${key}=${value}`);
  };
  duration('minBufferTime');
  duration('maxSegmentDuration');
  findings.check(!Number.isNaN(zeroMsOf(manifest)), 'availability-start', 'missing');
  const has = (key: string, isExpected: boolean) =>
    findings.check(attributes.has(key) === isExpected, 'live-attributes', `${type}: ${key}`);
  has('mediaPresentationDuration', !dynamic);
  has('minimumUpdatePeriod', dynamic);
  has('suggestedPresentationDelay', dynamic);
  if (dynamic) {
    const isPublished = !Number.isNaN(Date.parse(attributes.get('publishTime') ?? ''));
    findings.check(isPublished, 'publish-time', `${attributes.get('publishTime')}`);
    duration('minimumUpdatePeriod');
    duration('suggestedPresentationDelay');
    if (attributes.has('timeShiftBufferDepth')) duration('timeShiftBufferDepth');
    const [clock] = timing;
    const isClock =
      clock?.get('schemeIdUri') === 'urn:mpeg:dash:utc:http-iso:2014' && clock.get('value');
    findings.check(Boolean(isClock), 'utc-timing', [...(clock ?? [])].join(' '));
  } else {
    duration('mediaPresentationDuration');
    findings.check(!attributes.has('timeShiftBufferDepth'), 'live-attributes', 'a window');
  }
}

function checkPeriod(period: DashPeriod, endsS: number, findings: Findings): void {
  const { id, sets, startS } = period;
  const all = sets.flatMap(({ representations }) => representations);
  const ids = all.map((representation) => representation.id);
  findings.check(new Set(ids).size === ids.length && ids.length > 0, 'representation-id', id);
  for (const set of sets) checkSet(id, set, findings);
  for (const { id: representationId, segments, timescale, offset } of all) {
    const location = `${id} ${representationId}`;
    if (!findings.check(segments.length > 0, 'segment-timeline', `${location} is empty`)) continue;
    for (const [i, { time, number }] of segments.entries()) {
      const previous = segments[i - 1];
      const gapMs = previous ? ((time - previous.time - previous.duration) * 1_000) / timescale : 0;
      const detail = `${location} ${number}: a gap of ${gapMs} ms`;
      findings.check(Math.abs(gapMs) < STEP_MS, 'timeline', detail);
    }
    const [first, last] = [segments[0], segments.at(-1)];
    if (!first || !last) continue;
    // Audio starts with the fragment nearest to the video.
    const isAudio = sets.some(
      ({ attributes, representations }) =>
        attributes.get('contentType') === 'audio' &&
        representations.some((representation) => representation.id === representationId),
    );
    const toleranceS = isAudio ? 0.1 : STEP_MS / 1_000;
    const fromS = (first.time - offset) / timescale;
    findings.check(fromS >= -toleranceS, 'period-begins', `${location}: ${fromS} s`);
    const toS = startS + (last.time + last.duration - offset) / timescale;
    findings.check(
      toS <= endsS + toleranceS,
      'period-ends',
      `${location}: ${toS}, it ends at ${endsS}`,
    );
  }
}

function checkSet(period: string, set: DashSet, findings: Findings): void {
  const { attributes, representations } = set;
  const type = attributes.get('contentType');
  const location = `${period} ${type}`;
  findings.check(attributes.get('segmentAlignment') === 'true', 'segment-alignment', location);
  findings.check(attributes.get('startWithSAP') === '1', 'start-with-sap', location);
  for (const { id, attributes: own, init } of representations) {
    const mime = own.get('mimeType');
    findings.check(mime === `${type}/mp4`, 'mime-type', `${location} ${id}: ${mime}`);
    findings.check(Number(own.get('bandwidth')) > 0, 'bandwidth', `${location} ${id}`);
    findings.check(Boolean(own.get('codecs')), 'codecs', `${location} ${id} is missing`);
    findings.check(init !== '', 'initialization', `${location} ${id}`);
  }
  const timelines = representations.map(({ segments, timescale }) =>
    segments.map(({ number, time }) => [number, (time * 1_000) / timescale] as const),
  );
  for (const timeline of timelines.slice(1)) {
    const isAligned =
      timeline.length === timelines[0]?.length &&
      timeline.every(([number, ms], i) => {
        const [other, otherMs] = timelines[0]?.[i] ?? [Number.NaN, Number.NaN];
        return number === other && Math.abs(ms - otherMs) < STEP_MS;
      });
    findings.check(isAligned, 'aligned', location);
  }
}

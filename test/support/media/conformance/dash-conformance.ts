import { checkText, isDynamic, STEP_MS, zeroMsOf } from './dash-manifest-rules.ts';
import {
  type DashManifest,
  type DashPeriod,
  type DashRepresentation,
  readManifest,
  secondsIn,
} from './dash-parser.ts';
import { type InitFacts, readInit, readSegment } from './mp4-parser.ts';
import { Findings, type ReadFile, type Violation } from './violation.ts';

// Precision of current Unix times as doubles is about a µs.
const EXACT_MS = 0.01;

/**
 * Checks the DASH manifests of a stream and their segments against ISO/IEC 23009-1, the DASH-IF rules
 * for live services, and the service's own timeline rules (SPEC M-11, M-12, M-25). Also checks the
 * changes between successive manifests.
 */
export class DashConformance {
  private previous: DashManifest | null = null;
  private readonly checked = new Set<string>();
  private readonly inits = new Map<string, InitFacts>();

  constructor(private readonly read: ReadFile) {}

  /** @param nowMs service time at which the manifest was read */
  check(text: string, nowMs: number): Violation[] {
    const findings = new Findings();
    const manifest = readManifest(text, findings);
    if (!manifest) return findings.violations;
    checkText(manifest, findings);
    checkAvailable(manifest, nowMs, findings);
    if (this.previous) checkUpdate(this.previous, manifest, findings);
    for (const period of manifest.periods) this.checkBytes(manifest, period, findings);
    this.previous = manifest;
    return findings.violations;
  }

  private checkBytes(manifest: DashManifest, period: DashPeriod, findings: Findings): void {
    const longestS = secondsIn(manifest.attributes.get('maxSegmentDuration'));
    const bufferS = secondsIn(manifest.attributes.get('minBufferTime'));
    for (const representation of period.sets.flatMap((set) => set.representations)) {
      const { timescale, offset, segments, id } = representation;
      const init = this.init(representation, findings);
      if (!init) continue;
      for (const { path, time, duration, number } of segments) {
        const presentationS = period.startS + (time - offset) / timescale;
        const wallMs = zeroMsOf(manifest) + presentationS * 1_000;
        const errorMs = Math.abs(wallMs - (time / timescale) * 1_000);
        const detail = `${id} ${number} is ${errorMs} ms off`;
        findings.check(errorMs < EXACT_MS, 'wall-clock', detail);
        const seconds = duration / timescale;
        findings.check(seconds <= longestS, 'segment-duration', `${path}: ${seconds} s`);
        if (this.checked.has(path)) continue;
        this.checked.add(path);
        const bits = this.checkSegment(path, time, duration, init, findings);
        const maxBits =
          Number(representation.attributes.get('bandwidth')) * Math.max(bufferS, seconds);
        findings.check(bits <= maxBits, 'bandwidth', `${path}: ${bits} of ${maxBits} bits`);
      }
    }
  }

  private init(representation: DashRepresentation, findings: Findings): InitFacts | null {
    const { init: path, timescale, attributes } = representation;
    const bytes = this.read(path);
    if (!findings.check(bytes !== null, 'initialization', `${path} is missing`) || !bytes) {
      return null;
    }
    const init = this.inits.get(path) ?? attempt(path, () => readInit(bytes), findings);
    if (!init) return null;
    this.inits.set(path, init);
    findings.check(init.timescale === timescale, 'timescale', `${path}: ${init.timescale}`);
    const codecs = attributes.get('codecs');
    findings.check(init.codec === codecs, 'codecs', `${path}: ${codecs}, expected ${init.codec}`);
    findings.check(!init.isShifted, 'edit-list', `${path} moves presentation time`);
    if (init.kind === 'video') {
      const size = `${attributes.get('width')}x${attributes.get('height')}`;
      const isSize = size === `${init.width}x${init.height}`;
      findings.check(isSize, 'size', `${path}: ${size}, expected ${init.width}x${init.height}`);
    }
    return init;
  }

  private checkSegment(
    path: string,
    time: number,
    duration: number,
    init: InitFacts,
    findings: Findings,
  ): number {
    const bytes = this.read(path);
    if (!findings.check(bytes !== null, 'segment', `${path} is missing`) || !bytes) return 0;
    const facts = attempt(path, () => readSegment(bytes, init), findings);
    if (!facts) return 0;
    findings.check(
      facts.startTicks === time,
      'time',
      `${path}: ${time}, expected ${facts.startTicks}`,
    );
    const errorMs = (Math.abs(facts.durationTicks - duration) * 1_000) / init.timescale;
    findings.check(errorMs < STEP_MS, 'duration-real', `${path} is off by ${errorMs} ms`);
    findings.check(facts.isSync, 'first-sample-sync', `${path} does not start with a key frame`);
    findings.check(!facts.hasShift, 'composition', `${path} shows samples at another time`);
    return bytes.length * 8;
  }
}

/** Segments in a manifest are available (5.3.9.5.3), and none is older than the window. */
function checkAvailable(manifest: DashManifest, nowMs: number, findings: Findings): void {
  const windowS = secondsIn(manifest.attributes.get('timeShiftBufferDepth'));
  const longestS = secondsIn(manifest.attributes.get('maxSegmentDuration'));
  for (const { id, startS, sets } of manifest.periods) {
    for (const { segments, offset, timescale, id: of } of sets.flatMap((s) => s.representations)) {
      const [first, last] = [segments[0], segments.at(-1)];
      if (!first || !last) continue;
      const endOf = ({ time, duration }: typeof first) =>
        zeroMsOf(manifest) + (startS + (time + duration - offset) / timescale) * 1_000;
      const earlyMs = endOf(last) - nowMs;
      // Audio may be longer than video by up to one fragment.
      findings.check(earlyMs <= 100, 'available', `${id} ${of}: its end is in ${earlyMs} ms`);
      if (!isDynamic(manifest) || Number.isNaN(windowS)) continue;
      const ageS = (nowMs - endOf(first)) / 1_000;
      findings.check(ageS <= windowS + 2 * longestS, 'window', `${id} ${of}: ended ${ageS} s ago`);
    }
  }
}

/** Rules for changes between two manifests (5.4). */
function checkUpdate(previous: DashManifest, after: DashManifest, findings: Findings): void {
  if (!isDynamic(previous)) {
    findings.check(!isDynamic(after), 'ended', 'the stream continued after its end');
  }
  // A static manifest has a timeline of its own.
  if (isDynamic(previous) !== isDynamic(after)) return;
  const zeroMs = [previous, after].map(zeroMsOf);
  findings.check(zeroMs[0] === zeroMs[1], 'availability-start', `it became ${zeroMs[1]}`);
  const publishedMs = [previous, after].map(({ attributes }) =>
    Date.parse(attributes.get('publishTime') ?? ''),
  );
  const isLater = (publishedMs[1] ?? 0) >= (publishedMs[0] ?? 0);
  findings.check(isLater, 'publish-time', 'it went back');
  const periods = new Map(previous.periods.map((period) => [period.id, period]));
  for (const period of after.periods) {
    const existing = periods.get(period.id);
    if (!existing) continue;
    const detail = `${period.id}: ${existing.startS} became ${period.startS}`;
    findings.check(existing.startS === period.startS, 'period-moved', detail);
    checkSets(existing, period, findings);
  }
}

function checkSets(previous: DashPeriod, after: DashPeriod, findings: Findings): void {
  const existingById = new Map(
    previous.sets
      .flatMap((set) => set.representations)
      .map((representation) => [representation.id, representation]),
  );
  for (const representation of after.sets.flatMap((set) => set.representations)) {
    const existing = existingById.get(representation.id);
    const location = `${after.id} ${representation.id}`;
    if (
      !findings.check(existing !== undefined, 'representation-changed', `${location} is new`) ||
      !existing
    ) {
      continue;
    }
    findings.check(
      fingerprint(existing) === fingerprint(representation),
      'representation-changed',
      `${location}: ${fingerprint(representation)}`,
    );
    const [first, last] = [
      existing.segments[0]?.number ?? 0,
      existing.segments.at(-1)?.number ?? 0,
    ];
    const isForward =
      (representation.segments[0]?.number ?? 0) >= first &&
      (representation.segments.at(-1)?.number ?? 0) >= last;
    findings.check(isForward, 'segments-back', `${location} went back`);
    const times = new Map(existing.segments.map((segment) => [segment.number, segment]));
    for (const { number, time, duration } of representation.segments) {
      const previousSegment = times.get(number);
      const isSame =
        !previousSegment ||
        (previousSegment.time === time && previousSegment.duration === duration);
      findings.check(isSame, 'segment-changed', `${location} ${number}: ${time} ${duration}`);
    }
  }
}

function fingerprint({ attributes, timescale, offset, init }: DashRepresentation): string {
  return JSON.stringify([[...attributes].sort(), timescale, offset, init]);
}

function attempt<T>(path: string, parse: () => T, findings: Findings): T | null {
  try {
    return parse();
  } catch (error) {
    findings.check(false, 'segment', `${path}: ${(error as Error).message}`);
    return null;
  }
}

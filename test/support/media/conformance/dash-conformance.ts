import {
  type DashManifest,
  type DashPeriod,
  type DashRepresentation,
  readManifest,
  secondsIn,
} from './dash-text.ts';
import { checkText, isDynamic, STEP_MS, zeroMsOf } from './dash-text-rules.ts';
import { type InitFacts, readInit, readSegment } from './mp4.ts';
import { Findings, type ReadFile, type Violation } from './violation.ts';

// Presentation times of today are doubles with a µs or less after the point.
const EXACT_MS = 0.01;

/**
 * Holds the DASH manifests of a stream, and the segments they name, against ISO/IEC 23009-1 and
 * the DASH-IF rules for live services, and against what this service promises of time (SPEC M-11,
 * M-12, M-25). Give it one manifest after the other: it also checks what may change between them.
 */
export class DashConformance {
  private before: DashManifest | null = null;
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
    if (this.before) checkUpdate(this.before, manifest, findings);
    for (const period of manifest.periods) this.checkBytes(manifest, period, findings);
    this.before = manifest;
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
        const offMs = Math.abs(wallMs - (time / timescale) * 1_000);
        const detail = `${id} ${number} is ${offMs} ms off`;
        findings.check(offMs < EXACT_MS, 'wall-clock', detail);
        const seconds = duration / timescale;
        findings.check(seconds <= longestS, 'segment-duration', `${path}: ${seconds} s`);
        if (this.checked.has(path)) continue;
        this.checked.add(path);
        const bits = this.checkSegment(path, time, duration, init, findings);
        const mostBits =
          Number(representation.attributes.get('bandwidth')) * Math.max(bufferS, seconds);
        findings.check(bits <= mostBits, 'bandwidth', `${path}: ${bits} of ${mostBits} bits`);
      }
    }
  }

  private init(representation: DashRepresentation, findings: Findings): InitFacts | null {
    const { init: path, timescale, attributes } = representation;
    const bytes = this.read(path);
    if (!findings.check(bytes !== null, 'initialization', `${path} is not there`) || !bytes) {
      return null;
    }
    const init = this.inits.get(path) ?? attempt(path, () => readInit(bytes), findings);
    if (!init) return null;
    this.inits.set(path, init);
    findings.check(init.timescale === timescale, 'timescale', `${path}: ${init.timescale}`);
    const codecs = attributes.get('codecs');
    findings.check(init.codec === codecs, 'codecs', `${path}: ${codecs}, it is ${init.codec}`);
    findings.check(!init.isShifted, 'edit-list', `${path} moves presentation time`);
    if (init.kind === 'video') {
      const size = `${attributes.get('width')}x${attributes.get('height')}`;
      const isSize = size === `${init.width}x${init.height}`;
      findings.check(isSize, 'size', `${path}: ${size}, it is ${init.width}x${init.height}`);
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
    if (!findings.check(bytes !== null, 'segment', `${path} is not there`) || !bytes) return 0;
    const facts = attempt(path, () => readSegment(bytes, init), findings);
    if (!facts) return 0;
    findings.check(
      facts.startTicks === time,
      'time',
      `${path}: ${time}, it is ${facts.startTicks}`,
    );
    const offMs = (Math.abs(facts.durationTicks - duration) * 1_000) / init.timescale;
    findings.check(offMs < STEP_MS, 'duration-real', `${path} is off by ${offMs} ms`);
    findings.check(facts.isSync, 'first-sample-sync', `${path} begins with no key frame`);
    findings.check(!facts.hasShift, 'composition', `${path} shows samples at another time`);
    return bytes.length * 8;
  }
}

/** What a manifest names can be had (5.3.9.5.3), and it names a window, not more. */
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
      // Sound may be up to a fragment longer than the picture.
      findings.check(earlyMs <= 100, 'available', `${id} ${of}: its end is in ${earlyMs} ms`);
      if (!isDynamic(manifest) || Number.isNaN(windowS)) continue;
      const oldS = (nowMs - endOf(first)) / 1_000;
      findings.check(oldS <= windowS + 2 * longestS, 'window', `${id} ${of}: ended ${oldS} s ago`);
    }
  }
}

/** What may change from one manifest to the next (5.4). */
function checkUpdate(before: DashManifest, after: DashManifest, findings: Findings): void {
  if (!isDynamic(before)) {
    findings.check(!isDynamic(after), 'ended', 'it went on after its end');
  }
  // What is over is told on a timeline of its own.
  if (isDynamic(before) !== isDynamic(after)) return;
  const zero = [before, after].map(zeroMsOf);
  findings.check(zero[0] === zero[1], 'availability-start', `it became ${zero[1]}`);
  const published = [before, after].map(({ attributes }) =>
    Date.parse(attributes.get('publishTime') ?? ''),
  );
  const isLater = (published[1] ?? 0) >= (published[0] ?? 0);
  findings.check(isLater, 'publish-time', 'it went back');
  const periods = new Map(before.periods.map((period) => [period.id, period]));
  for (const period of after.periods) {
    const old = periods.get(period.id);
    if (!old) continue;
    const detail = `${period.id}: ${old.startS} became ${period.startS}`;
    findings.check(old.startS === period.startS, 'period-moved', detail);
    checkSets(old, period, findings);
  }
}

function checkSets(before: DashPeriod, after: DashPeriod, findings: Findings): void {
  const known = new Map(
    before.sets.flatMap((set) => set.representations).map((one) => [one.id, one]),
  );
  for (const one of after.sets.flatMap((set) => set.representations)) {
    const old = known.get(one.id);
    const where = `${after.id} ${one.id}`;
    if (!findings.check(old !== undefined, 'representation-changed', `${where} is new`) || !old) {
      continue;
    }
    findings.check(said(old) === said(one), 'representation-changed', `${where}: ${said(one)}`);
    const [first, last] = [old.segments[0]?.number ?? 0, old.segments.at(-1)?.number ?? 0];
    const goesOn =
      (one.segments[0]?.number ?? 0) >= first && (one.segments.at(-1)?.number ?? 0) >= last;
    findings.check(goesOn, 'segments-back', `${where} went back`);
    const times = new Map(old.segments.map((segment) => [segment.number, segment]));
    for (const { number, time, duration } of one.segments) {
      const same = times.get(number);
      const isSame = !same || (same.time === time && same.duration === duration);
      findings.check(isSame, 'segment-changed', `${where} ${number}: ${time} ${duration}`);
    }
  }
}

function said({ attributes, timescale, offset, init }: DashRepresentation): string {
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

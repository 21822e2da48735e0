// Parser of DASH manifests (ISO/IEC 23009-1). Shares no code with the service.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import type { Findings } from './violation.ts';

/** An XML element with its children in document order. */
export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
}

/** A segment of a `SegmentTimeline`. */
export interface DashSegment {
  readonly number: number;
  readonly path: string;
  /** `S@t` and `S@d`, in ticks. */
  readonly time: number;
  readonly duration: number;
}

export interface DashRepresentation {
  readonly id: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly timescale: number;
  /** `presentationTimeOffset`. */
  readonly offset: number;
  readonly init: string;
  readonly segments: readonly DashSegment[];
}

export interface DashSet {
  readonly attributes: ReadonlyMap<string, string>;
  readonly representations: readonly DashRepresentation[];
}

export interface DashPeriod {
  readonly id: string;
  readonly startS: number;
  readonly sets: readonly DashSet[];
}

export interface DashManifest {
  readonly attributes: ReadonlyMap<string, string>;
  /** Names of the children of `MPD`. */
  readonly order: readonly string[];
  readonly timing: readonly ReadonlyMap<string, string>[];
  readonly periods: readonly DashPeriod[];
}

const REPEATS_MAX = 100_000;

/** Parses a manifest and reports structural errors. @returns null when it is not an MPD */
export function readManifest(text: string, findings: Findings): DashManifest | null {
  const valid = XMLValidator.validate(text);
  if (!findings.check(valid === true, 'xml', JSON.stringify(valid))) return null;
  const [root] = toElements(parse(text));
  if (!findings.check(root?.name === 'MPD', 'xml', `it is ${root?.name}`) || !root) return null;
  const schema = root.attributes.get('xmlns');
  findings.check(schema === 'urn:mpeg:dash:schema:mpd:2011', 'schema', `${schema}`);
  return {
    attributes: root.attributes,
    order: root.children.map(({ name }) => name),
    timing: childrenNamed(root, 'UTCTiming').map(({ attributes }) => attributes),
    periods: childrenNamed(root, 'Period').map((period) => readPeriod(period, findings)),
  };
}

/** Parses `xs:duration` without years and months, s; NaN when it is invalid. */
export function secondsIn(duration: string | undefined): number {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
    duration ?? '',
  );
  if (!match || duration === 'P' || duration?.endsWith('T')) return Number.NaN;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

function readPeriod(period: Element, findings: Findings): DashPeriod {
  const id = period.attributes.get('id') ?? '';
  const sets = childrenNamed(period, 'AdaptationSet').map((set) => ({
    attributes: set.attributes,
    representations: childrenNamed(set, 'Representation').map((representation) =>
      readRepresentation(id, set, representation, findings),
    ),
  }));
  return { id, startS: secondsIn(period.attributes.get('start')), sets };
}

function readRepresentation(
  period: string,
  set: Element,
  element: Element,
  findings: Findings,
): DashRepresentation {
  const id = element.attributes.get('id') ?? '';
  const location = `${period} ${id}`;
  const template =
    childrenNamed(element, 'SegmentTemplate')[0] ?? childrenNamed(set, 'SegmentTemplate')[0];
  findings.check(template !== undefined, 'segment-template', `${location} has none`);
  const text = (key: string) => template?.attributes.get(key) ?? '';
  const integer = (key: string, fallback: number) => {
    const value = text(key);
    const isWhole = value === '' || /^\d+$/.test(value);
    findings.check(isWhole, 'segment-template', `${location}: ${key}=${value}`);
    return value === '' ? fallback : Number(value);
  };
  const media = text('media');
  const hasVariable = /\$(Number|Time)\$/.test(media);
  findings.check(hasVariable, 'segment-template', `${location}: media=${media}`);
  const timeline = template ? childrenNamed(template, 'SegmentTimeline')[0] : undefined;
  findings.check(timeline !== undefined, 'segment-timeline', `${location} has none`);
  const start = integer('startNumber', 1);
  const segments = parseTimeline(location, timeline, findings).map(({ time, duration }, i) => {
    const number = start + i;
    return { number, path: fillTemplate(media, id, number, time), time, duration };
  });
  return {
    id,
    attributes: new Map([...set.attributes, ...element.attributes]),
    timescale: integer('timescale', 1),
    offset: integer('presentationTimeOffset', 0),
    init: fillTemplate(text('initialization'), id, 0, 0),
    segments,
  };
}

function parseTimeline(location: string, timeline: Element | undefined, findings: Findings) {
  const times: { time: number; duration: number }[] = [];
  let nextTicks = 0;
  for (const { name, attributes } of timeline?.children ?? []) {
    findings.check(name === 'S', 'segment-timeline', `${location}: ${name}`);
    const duration = Number(attributes.get('d'));
    const repeats = Number(attributes.get('r') ?? 0);
    let time = Number(attributes.get('t') ?? nextTicks);
    const isWhole =
      Number.isSafeInteger(time) &&
      Number.isSafeInteger(duration) &&
      duration > 0 &&
      repeats >= 0 &&
      repeats < REPEATS_MAX;
    if (!findings.check(isWhole, 'segment-timeline', `${location}: ${[...attributes].join(' ')}`))
      break;
    for (let i = 0; i <= repeats; i++) {
      times.push({ time, duration });
      time += duration;
    }
    nextTicks = time;
  }
  return times;
}

function fillTemplate(template: string, id: string, number: number, time: number): string {
  return template
    .replaceAll('$RepresentationID$', id)
    .replaceAll('$Number$', `${number}`)
    .replaceAll('$Time$', `${time}`);
}

function childrenNamed({ children }: Element, name: string): Element[] {
  return children.filter((child) => child.name === name);
}

function parse(text: string): unknown {
  return new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    preserveOrder: true,
    parseAttributeValue: false,
    ignoreDeclaration: true,
  }).parse(text);
}

// With `preserveOrder`, an element is an object with its name and `:@` for its attributes as keys.
function toElements(nodes: unknown): Element[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node: Record<string, unknown>) => {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined || name.startsWith('#')) return [];
    const attributes = new Map(Object.entries((node[':@'] ?? {}) as Record<string, string>));
    return [{ name, attributes, children: toElements(node[name]) }];
  });
}

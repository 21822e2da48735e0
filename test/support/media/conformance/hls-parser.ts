// Parser of HLS playlists (RFC 8216 and its second edition, 8216bis). Shares no code with the service.
import type { Findings } from './violation.ts';

export type Attributes = ReadonlyMap<string, string>;

export interface HlsPart {
  readonly uri: string;
  readonly durationS: number;
  readonly isIndependent: boolean;
}

export interface HlsSegment {
  readonly seq: number;
  readonly discontinuity: number;
  readonly uri: string;
  readonly durationS: number;
  readonly dateMs: number | null;
  readonly map: string | null;
  readonly isGap: boolean;
  readonly parts: readonly HlsPart[];
}

export interface HlsMediaPlaylist {
  readonly version: number;
  readonly targetS: number;
  readonly mediaSequence: number;
  readonly discontinuitySequence: number;
  readonly type: string | null;
  readonly isIndependent: boolean;
  readonly isEnded: boolean;
  readonly control: Attributes | null;
  readonly partTargetS: number | null;
  readonly skipped: number;
  readonly segments: readonly HlsSegment[];
  /** Parts of the newest segment, which is incomplete. */
  readonly openParts: readonly HlsPart[];
  readonly hint: string | null;
  readonly reports: readonly Attributes[];
}

/** A variant of a multivariant playlist. */
export interface HlsVariant {
  readonly uri: string;
  readonly attributes: Attributes;
}

export interface HlsMultivariantPlaylist {
  readonly version: number;
  readonly variants: readonly HlsVariant[];
  readonly media: readonly Attributes[];
}

const HEAD_TAGS = [
  'EXT-X-VERSION',
  'EXT-X-TARGETDURATION',
  'EXT-X-MEDIA-SEQUENCE',
  'EXT-X-DISCONTINUITY-SEQUENCE',
  'EXT-X-PLAYLIST-TYPE',
  'EXT-X-INDEPENDENT-SEGMENTS',
  'EXT-X-SERVER-CONTROL',
  'EXT-X-PART-INF',
  'EXT-X-SKIP',
];
const SEGMENT_TAGS = [
  'EXTINF',
  'EXT-X-DISCONTINUITY',
  'EXT-X-MAP',
  'EXT-X-PROGRAM-DATE-TIME',
  'EXT-X-GAP',
  'EXT-X-PART',
];
const EDGE_TAGS = ['EXT-X-ENDLIST', 'EXT-X-PRELOAD-HINT', 'EXT-X-RENDITION-REPORT'];
const MASTER_TAGS = [
  'EXT-X-VERSION',
  'EXT-X-INDEPENDENT-SEGMENTS',
  'EXT-X-MEDIA',
  'EXT-X-STREAM-INF',
];
const ATTRIBUTE = /([A-Z0-9-]+)=("[^"\r\n]*"|[^",\s][^",]*)(?:,|$)/y;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;

interface Line {
  /** Tag name; null for a URI line. */
  readonly tag: string | null;
  readonly value: string;
}

/** Parses a media playlist and reports structural errors. */
export function parseMediaPlaylist(
  name: string,
  text: string,
  findings: Findings,
): HlsMediaPlaylist {
  const lines = linesOf(name, text, [...HEAD_TAGS, ...SEGMENT_TAGS, ...EDGE_TAGS], findings);
  const head = headOf(name, lines, findings);
  const reader = new SegmentReader(name, head, findings);
  for (const line of lines) reader.line(line);
  const hint = lines.filter(({ tag }) => tag === 'EXT-X-PRELOAD-HINT').at(-1);
  return {
    ...head,
    segments: reader.segments,
    openParts: reader.parts,
    hint: hint ? quoted(attributes(name, hint.value, findings).get('URI')) : null,
    reports: lines
      .filter(({ tag }) => tag === 'EXT-X-RENDITION-REPORT')
      .map(({ value }) => attributes(name, value, findings)),
  };
}

/** Parses a multivariant playlist and reports structural errors. */
export function parseMultivariantPlaylist(
  name: string,
  text: string,
  findings: Findings,
): HlsMultivariantPlaylist {
  const lines = linesOf(name, text, MASTER_TAGS, findings);
  const variants: HlsVariant[] = [];
  for (const [i, { tag, value }] of lines.entries()) {
    const before = lines[i - 1];
    if (tag === null) {
      const follows = before?.tag === 'EXT-X-STREAM-INF';
      findings.check(follows, 'master-uri', `${name}: ${value} follows no EXT-X-STREAM-INF`);
      if (follows) {
        variants.push({ uri: value, attributes: attributes(name, before.value, findings) });
      }
    }
  }
  const media = lines
    .filter(({ tag }) => tag === 'EXT-X-MEDIA')
    .map(({ value }) => attributes(name, value, findings));
  return {
    version: number(single(name, lines, 'EXT-X-VERSION', findings) ?? '1'),
    variants,
    media,
  };
}

/** Content of a quoted string; null for another value. */
export function quoted(value: string | undefined): string | null {
  return value?.startsWith('"') ? value.slice(1, -1) : null;
}

type Head = Omit<HlsMediaPlaylist, 'segments' | 'openParts' | 'hint' | 'reports'>;

function headOf(name: string, lines: readonly Line[], findings: Findings): Head {
  const tagValue = (tag: string) => single(name, lines, tag, findings);
  const control = tagValue('EXT-X-SERVER-CONTROL');
  const partInf = tagValue('EXT-X-PART-INF');
  const skip = tagValue('EXT-X-SKIP');
  const target = tagValue('EXT-X-TARGETDURATION');
  findings.check(/^\d+$/.test(target ?? ''), 'target-duration', `${name}: it is ${target}`);
  const from = lines.findIndex(({ tag }) => tag !== null && SEGMENT_TAGS.includes(tag));
  const lastHeaderIndex = lines.findLastIndex(({ tag }) => tag !== null && HEAD_TAGS.includes(tag));
  findings.check(
    from === -1 || lastHeaderIndex < from,
    'head-first',
    `${name}: ${lines[lastHeaderIndex]?.tag} is after a segment tag`,
  );
  return {
    version: number(tagValue('EXT-X-VERSION') ?? '1'),
    targetS: number(target ?? ''),
    mediaSequence: number(tagValue('EXT-X-MEDIA-SEQUENCE') ?? '0'),
    discontinuitySequence: number(tagValue('EXT-X-DISCONTINUITY-SEQUENCE') ?? '0'),
    type: tagValue('EXT-X-PLAYLIST-TYPE'),
    isIndependent: tagValue('EXT-X-INDEPENDENT-SEGMENTS') !== null,
    isEnded: tagValue('EXT-X-ENDLIST') !== null,
    control: control === null ? null : attributes(name, control, findings),
    partTargetS: partInf === null ? null : partTarget(attributes(name, partInf, findings)),
    skipped:
      skip === null ? 0 : number(attributes(name, skip, findings).get('SKIPPED-SEGMENTS') ?? ''),
  };
}

/** Collects the tags of each segment. */
class SegmentReader {
  readonly segments: HlsSegment[] = [];
  parts: HlsPart[] = [];
  private seq: number;
  private discontinuity: number;
  private map: string | null = null;
  private durationS: number | null = null;
  private dateMs: number | null = null;
  private isGap = false;

  constructor(
    private readonly name: string,
    head: Head,
    private readonly findings: Findings,
  ) {
    this.seq = head.mediaSequence + head.skipped;
    this.discontinuity = head.discontinuitySequence;
  }

  line({ tag, value }: Line): void {
    if (tag === null) this.uri(value);
    else if (tag === 'EXT-X-DISCONTINUITY') this.discontinuity++;
    else if (tag === 'EXT-X-GAP') this.isGap = true;
    else if (tag === 'EXTINF') this.duration(value);
    else if (tag === 'EXT-X-PROGRAM-DATE-TIME') this.date(value);
    else if (tag === 'EXT-X-MAP') this.map = quoted(this.attributes(value).get('URI'));
    else if (tag === 'EXT-X-PART') this.part(this.attributes(value));
  }

  private uri(uri: string): void {
    const { seq, discontinuity, map, durationS, dateMs, isGap, parts } = this;
    if (this.findings.check(durationS !== null, 'extinf', `${this.name}: ${uri} has none`)) {
      const segmentDurationS = durationS ?? 0;
      this.segments.push({
        seq,
        discontinuity,
        uri,
        durationS: segmentDurationS,
        dateMs,
        map,
        isGap,
        parts,
      });
    }
    this.seq++;
    this.durationS = null;
    this.dateMs = null;
    this.isGap = false;
    this.parts = [];
  }

  private duration(value: string): void {
    const match = /^(\d+(?:\.\d+)?),/.exec(value);
    this.findings.check(match !== null, 'extinf', `${this.name}: ${value}`);
    this.durationS = Number(match?.[1] ?? 0);
  }

  private date(value: string): void {
    const isDate = DATE.test(value) && /\.\d{3}/.test(value);
    this.findings.check(isDate, 'program-date-time', `${this.name}: ${value}`);
    this.dateMs = Date.parse(value);
  }

  private part(partAttributes: Attributes): void {
    const uri = quoted(partAttributes.get('URI'));
    const durationS = Number(partAttributes.get('DURATION'));
    const isWhole = uri !== null && durationS > 0;
    this.findings.check(isWhole, 'part', `${this.name}: ${[...partAttributes].join(' ')}`);
    const isIndependent = partAttributes.get('INDEPENDENT') === 'YES';
    this.parts.push({ uri: uri ?? '', durationS, isIndependent });
  }

  private attributes(value: string): Attributes {
    return attributes(this.name, value, this.findings);
  }
}

function linesOf(name: string, text: string, known: readonly string[], findings: Findings): Line[] {
  const [first, ...lines] = text.split(/\r?\n/);
  findings.check(first === '#EXTM3U', 'extm3u', `${name} begins with ${first}`);
  return lines
    .filter((line) => line !== '' && !(line.startsWith('#') && !line.startsWith('#EXT')))
    .map((line) => {
      if (!line.startsWith('#')) {
        findings.check(!/\s/.test(line), 'uri', `${name}: ${line}`);
        return { tag: null, value: line };
      }
      const colon = line.indexOf(':');
      const tag = line.slice(1, colon === -1 ? undefined : colon);
      findings.check(known.includes(tag), 'known-tag', `${name}: ${line}`);
      return { tag, value: colon === -1 ? '' : line.slice(colon + 1) };
    });
}

function attributes(name: string, value: string, findings: Findings): Attributes {
  const values = new Map<string, string>();
  ATTRIBUTE.lastIndex = 0;
  while (ATTRIBUTE.lastIndex < value.length) {
    const at = ATTRIBUTE.lastIndex;
    const match = ATTRIBUTE.exec(value);
    const isNew = match !== null && !values.has(match[1] ?? '');
    if (!findings.check(isNew, 'attributes', `${name}: ${value.slice(at)}`) || !match) break;
    values.set(match[1] ?? '', match[2] ?? '');
  }
  return values;
}

function single(
  name: string,
  lines: readonly Line[],
  tag: string,
  findings: Findings,
): string | null {
  const [first, ...more] = lines.filter((line) => line.tag === tag);
  findings.check(more.length === 0, 'once', `${name}: ${tag} is there more than once`);
  return first?.value ?? null;
}

function partTarget(partAttributes: Attributes): number {
  return Number(partAttributes.get('PART-TARGET'));
}

function number(value: string): number {
  return /^\d+$/.test(value) ? Number(value) : Number.NaN;
}

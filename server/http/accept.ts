/** A part of `Accept`: a media range and its weight (RFC 9110, section 12.5.1). */
interface Range {
  readonly name: string;
  readonly weight: number;
}

/** How a client takes one type. */
interface Taken {
  /** 0: not at all. */
  readonly weight: number;
  /** 2: by its name, 1: by `text/*` and the like, 0: by a range of all types, or not at all. */
  readonly specificity: number;
  /** Where in the header it stands. */
  readonly place: number;
}

const JSON_TYPE = 'application/json';
const WEIGHT = /^\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*$/;

/**
 * Whether `Accept` names this media type, in any case and with any parameters, and does not refuse
 * it (`q=0`). Weights are not compared and ranges such as `text/*` name nothing: this is for a type
 * that says the same as JSON does (SPEC G-14).
 * @param type in lower case
 */
export function accepts(request: Request, type: string): boolean {
  return acceptsIn(request.headers.get('accept'), type);
}

/** The same of the header alone; null: there is none. */
export function acceptsIn(header: string | null, type: string): boolean {
  if (header === null) return false;
  return rangesOf(header).some(({ name, weight }) => name === type && weight > 0);
}

/**
 * Whether the client would rather have this type than JSON (SPEC G-15): by weight, then by how
 * closely it is named, then, of two that are named, by the client's order.
 * @param type in lower case
 */
export function prefers(request: Request, type: string): boolean {
  return prefersIn(request.headers.get('accept'), type);
}

/** The same of the header alone; null: there is none. */
export function prefersIn(header: string | null, type: string): boolean {
  // What `fetch` sends by itself, so what nearly all requests of the feed carry.
  if (header === null || header === '*/*') return false;
  const ranges = rangesOf(header);
  const asked = taken(ranges, type);
  const json = taken(ranges, JSON_TYPE);
  if (asked.weight !== json.weight) return asked.weight > json.weight;
  if (asked.weight === 0) return false;
  if (asked.specificity !== json.specificity) return asked.specificity > json.specificity;
  return asked.specificity === 2 && asked.place < json.place;
}

function rangesOf(header: string): Range[] {
  return header.split(',').map((part) => {
    const [name = '', ...parameters] = part.toLowerCase().split(';');
    const weights = parameters.flatMap((parameter) => WEIGHT.exec(parameter)?.[1] ?? []);
    return { name: name.trim(), weight: Number(weights[0] ?? 1) };
  });
}

// The closest range decides, whatever the weight of the wider ones.
function taken(ranges: readonly Range[], type: string): Taken {
  const family = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const [wider, name] of [type, family, '*/*'].entries()) {
    const place = ranges.findIndex((range) => range.name === name);
    const range = ranges[place];
    if (range) return { weight: range.weight, specificity: 2 - wider, place };
  }
  return { weight: 0, specificity: 0, place: -1 };
}

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Playable, Presentation } from '../segment.ts';

/** A playlist or manifest as it is sent. */
export interface RenderedText {
  readonly version: number;
  readonly plain: Uint8Array;
  /** The same for the same text. Weak: the compressed one has it too. */
  readonly etag: string;
  /** Made when it is first wanted; once it is there, at once. */
  zipped: Uint8Array | Promise<Uint8Array> | null;
}

// A rendering is 1 MB at most; a stream has six tracks or so, with and without old segments.
const TEXTS_MAX = 32;

// A playlist of two hours is 700 KB and is made anew each second: speed matters more than the last
// tenth of its size.
const compress = promisify(gzip) as (
  bytes: Uint8Array,
  options: { level: number },
) => Promise<Uint8Array>;
const LEVEL = 4;

const encoder = new TextEncoder();

/** What was made of presentations: each text once for all who ask, until its stream changes. */
export class RenderedTexts {
  private readonly texts = new WeakMap<Playable, Map<string, RenderedText>>();

  /** @param name tells texts of a stream from each other @returns null when there is nothing yet */
  of(
    playable: Playable,
    name: string,
    render: (presentation: Presentation) => string | null,
  ): RenderedText | null {
    const presentation = playable.presentation();
    const texts = this.texts.get(playable) ?? new Map<string, RenderedText>();
    this.texts.set(playable, texts);
    const known = texts.get(name);
    if (known?.version === presentation.version) return known;
    const text = render(presentation);
    if (text === null) {
      texts.delete(name);
      return null;
    }
    const plain = encoder.encode(text);
    const etag = `W/"${Bun.hash.xxHash64(plain).toString(36)}"`;
    const { version } = presentation;
    const rendered: RenderedText =
      known?.etag === etag ? { ...known, version } : { version, plain, etag, zipped: null };
    if (texts.size < TEXTS_MAX) texts.set(name, rendered);
    return rendered;
  }
}

/** The text, compressed; once for all. */
export function zipped(rendered: RenderedText): Uint8Array | Promise<Uint8Array> {
  rendered.zipped ??= compress(rendered.plain, { level: LEVEL }).then((bytes) => {
    rendered.zipped = bytes;
    return bytes;
  });
  return rendered.zipped;
}

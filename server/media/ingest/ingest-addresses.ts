/** Ports on which this service takes video; null: it does not, by that way. */
export interface IngestAddresses {
  /** TCP. */
  readonly rtmpPort: number | null;
  /** UDP. */
  readonly srtPort: number | null;
}

/** Where to send a stream's video (SPEC M-1 – M-4). */
export interface IngestUrls {
  /** OBS wants server and key apart. */
  readonly rtmp: { readonly url: string; readonly key: string } | null;
  /** With the key in it. */
  readonly srt: { readonly url: string } | null;
  readonly websocket: { readonly url: string };
}

/**
 * Addresses for the source of a stream. Nothing in them needs to be encoded: a key is letters and
 * digits, and a colon may stand in a query (RFC 3986, 3.4).
 * @param origin where this service is reached, without a trailing slash
 */
export function ingestUrls(
  stream: { readonly id: string; readonly key: string },
  origin: string,
  { rtmpPort, srtPort }: IngestAddresses,
): IngestUrls {
  const { hostname } = new URL(origin);
  const { id, key } = stream;
  return {
    rtmp: rtmpPort === null ? null : { url: `rtmp://${hostname}:${rtmpPort}/live`, key },
    srt: srtPort === null ? null : { url: `srt://${hostname}:${srtPort}?streamid=publish:${key}` },
    websocket: { url: `${origin.replace(/^http/, 'ws')}/media/${id}/ingest` },
  };
}

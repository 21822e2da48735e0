/** Ports on which the service receives media; null where the protocol is off. */
export interface IngestAddresses {
  /** TCP. */
  readonly rtmpPort: number | null;
  /** UDP. */
  readonly srtPort: number | null;
}

/** URLs to send a stream's media to (SPEC M-1 – M-4). */
export interface IngestUrls {
  /** OBS has separate fields for server and key. */
  readonly rtmp: { readonly url: string; readonly key: string } | null;
  /** The URL contains the key. */
  readonly srt: { readonly url: string } | null;
  readonly websocket: { readonly url: string };
}

/**
 * URLs for the source of a stream. No escaping is needed: a key consists of letters and digits, and
 * a query may contain a colon (RFC 3986, 3.4).
 * @param origin base URL of the service, without a trailing slash
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

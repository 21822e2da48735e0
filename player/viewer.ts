const IDENTIFIER = 'fourbeat-viewer';
// A token lives for 10 minutes.
const TOKEN_MS = 480_000;

/** Somebody who watches a stream, with a token that is good for a while. */
export class Viewer {
  private token: Promise<string> | null = null;
  private untilMs = 0;

  constructor(readonly streamId: string) {}

  /** How long the token that is given now is used, ms. */
  get restMs(): number {
    return Math.max(0, this.untilMs - performance.now());
  }

  /** @throws when the service cannot be reached, or gives none */
  async headers(): Promise<Record<string, string>> {
    if (!this.token || this.restMs === 0) {
      this.untilMs = performance.now() + TOKEN_MS;
      this.token = newToken(this.streamId);
      this.token.catch(() => {
        this.token = null;
      });
    }
    return { Authorization: `Bearer ${await this.token}` };
  }

  /** The token was refused, or may have been. */
  forget(): void {
    this.token = null;
  }

  /** Where the feed is, from this interval on. */
  feedUrl(interval: number): string {
    return `/api/v1/events-streams/${this.streamId}?interval=${interval}`;
  }
}

async function newToken(streamId: string): Promise<string> {
  const response = await fetch('/api/v1/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier() }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

function identifier(): string {
  const known = localStorage.getItem(IDENTIFIER);
  if (known !== null) return known;
  // Not `randomUUID`, which pages without TLS do not have.
  const made = Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
  localStorage.setItem(IDENTIFIER, made);
  return made;
}

import { IDENTIFIER_CHARS, TOKEN_LIFETIME_S } from '../../protocol/limits.ts';
import { MockProblem, textOf } from './mock-replies.ts';

/** A viewer with a token. */
export interface MockViewer {
  /** The app's id for the viewer. */
  readonly identifier: string;
  /** The opaque id: `sub` of the token. */
  readonly id: string;
  readonly seat: number;
  /** When the token expires, Unix ms. */
  readonly expiresMs: number;
}

const UUID = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i;

/** Viewer tokens (SPEC T). They look like JWTs but are not signed. */
export class MockTokens {
  readonly #seats = new Map<string, number>();
  readonly #viewers = new Map<string, MockViewer>();
  #issued = 0;

  constructor(readonly streamId: string) {}

  issue(body: Readonly<Record<string, unknown>>, nowMs: number): string {
    const identifier = textOf(
      body.unique_user_identifier,
      'unique_user_identifier',
      IDENTIFIER_CHARS,
    );
    const { stream_id: streamId } = body;
    if (streamId !== this.streamId) {
      if (UUID.test(String(streamId))) throw new MockProblem(404, 'There is no such stream.');
      throw new MockProblem(400, 'stream_id: must be a uuid.');
    }
    const seat = this.#seats.get(identifier) ?? this.#seats.size;
    this.#seats.set(identifier, seat);
    const iat = Math.floor(nowMs / 1_000);
    const exp = iat + TOKEN_LIFETIME_S;
    const id = `mock-viewer-${seat}`.padEnd(22, '-');
    const claims = { iss: 'https://mock.example', aud: 'fourbeat', sub: id, seat, iat, exp };
    const parts = [
      { alg: 'EdDSA', kid: 'mock' },
      { ...claims, stream_id: this.streamId },
    ];
    this.#issued += 1;
    const token = [...parts.map(base64url), base64url(this.#issued)].join('.');
    this.#viewers.set(token, { identifier, id, seat, expiresMs: exp * 1_000 });
    return token;
  }

  /** The viewer of an `Authorization` header. @throws MockProblem 401 */
  viewerOf(authorization: string | null, nowMs: number): MockViewer {
    const viewer = this.#viewers.get(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
    if (viewer && nowMs < viewer.expiresMs) return viewer;
    throw new MockProblem(401, 'The viewer token is missing, not valid, or has expired.');
  }

  rejectAll(): void {
    this.#viewers.clear();
  }
}

function base64url(value: unknown): string {
  return btoa(JSON.stringify(value)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

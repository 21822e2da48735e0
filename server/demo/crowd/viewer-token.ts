import { decodeJwt } from 'jose';
import {
  type TokenRequest,
  type ViewerClaims,
  viewerClaimsSchema,
  viewerTokenSchema,
} from '../../../protocol/tokens.ts';
import type { Connections, HttpAnswer } from './connections.ts';

/** A viewer token that the service gave. */
export interface GivenToken {
  /** The header line that sends it. */
  readonly credential: string;
  readonly claims: ViewerClaims;
}

/** Asks for a token of this identifier. @throws ConnectionLost */
export function askForToken(
  http: Connections,
  streamId: string,
  identifier: string,
): Promise<HttpAnswer> {
  const request: TokenRequest = { stream_id: streamId, unique_user_identifier: identifier };
  return http.request('POST', '/api/v1/token', '', JSON.stringify(request));
}

/** The token in an answer of 200. @throws Error when there is none that follows T-5 */
export function tokenIn({ body }: HttpAnswer): GivenToken {
  const { token } = viewerTokenSchema.parse(JSON.parse(Buffer.from(body).toString()));
  const claims = viewerClaimsSchema.parse(decodeJwt(token));
  return { credential: `Authorization: Bearer ${token}\r\n`, claims };
}

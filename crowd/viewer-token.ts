import { decodeJwt } from 'jose';
import { type ViewerClaims, viewerClaimsSchema, viewerTokenSchema } from '../protocol/tokens.ts';
import type { HttpAnswer } from './connections.ts';

/** A viewer token that the service gave. */
export interface GivenToken {
  /** The header line that sends it. */
  readonly credential: string;
  readonly claims: ViewerClaims;
}

/** The token in an answer of 200. @throws Error when there is none that follows T-5 */
export function tokenIn({ body }: HttpAnswer): GivenToken {
  const { token } = viewerTokenSchema.parse(JSON.parse(Buffer.from(body).toString()));
  const claims = viewerClaimsSchema.parse(decodeJwt(token));
  return { credential: `Authorization: Bearer ${token}\r\n`, claims };
}

import { decodeJwt } from 'jose';
import { type ViewerClaims, viewerClaimsSchema, viewerTokenSchema } from '../protocol/tokens.ts';
import type { HttpResponse } from './connections.ts';

export interface IssuedToken {
  /** The Authorization header line. */
  readonly credential: string;
  readonly claims: ViewerClaims;
}

/** Parses the token in a 200 response. @throws Error when it does not conform to T-5 */
export function parseToken({ body }: HttpResponse): IssuedToken {
  const { token } = viewerTokenSchema.parse(JSON.parse(Buffer.from(body).toString()));
  const claims = viewerClaimsSchema.parse(decodeJwt(token));
  return { credential: `Authorization: Bearer ${token}\r\n`, claims };
}

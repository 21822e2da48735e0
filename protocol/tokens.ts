import { z } from 'zod';
import { IDENTIFIER_CHARS, SEATS_MAX } from './limits.ts';
import { text, uuid, wholeNumber } from './text.ts';

/** Request for a viewer token (interface, Viewer token). */
export const tokenRequestSchema = z
  .object({
    stream_id: uuid,
    unique_user_identifier: text(IDENTIFIER_CHARS).describe(
      "Unique per viewer: the user's id, or a client fingerprint",
    ),
  })
  .meta({
    id: 'TokenRequest',
    examples: [
      { stream_id: '0f8fad5b-d9cb-469f-a165-70867728950e', unique_user_identifier: 'user-42' },
    ],
  });
export type TokenRequest = z.infer<typeof tokenRequestSchema>;

export const viewerTokenSchema = z
  .object({ token: z.string().describe('A JWT that expires 10 minutes after creation') })
  .meta({ id: 'ViewerToken' });

/** Claims of a viewer token. `sub` is opaque; the token has no `unique_user_identifier`. */
export const viewerClaimsSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  sub: z.string(),
  stream_id: uuid,
  seat: wholeNumber.max(SEATS_MAX - 1),
  iat: z.int(),
  exp: z.int(),
});
export type ViewerClaims = z.infer<typeof viewerClaimsSchema>;

/** JSON Web Key Set with the public keys of viewer tokens (RFC 7517). */
export const jwksSchema = z.object({ keys: z.array(z.looseObject({})) }).meta({ id: 'Jwks' });

import { z } from 'zod';
import { text, unixMs, uuid } from './text.ts';

/** The account a service token belongs to (interface, User). */
export const userSchema = z
  .object({ uuid, email: z.string(), name: z.string(), created: unixMs })
  .meta({ id: 'User' });
export type User = z.infer<typeof userSchema>;

/** A service token in a list. The token itself is shown only when it is created. */
export const apiTokenSchema = z
  .object({
    id: uuid,
    name: z.string(),
    prefix: z.string().describe('The first characters of the token, to recognize it'),
    created: unixMs,
    lastUsed: unixMs.nullable(),
  })
  .meta({ id: 'ApiToken' });
export type ApiToken = z.infer<typeof apiTokenSchema>;

export const newApiTokenSchema = z.strictObject({ name: text(80) }).meta({ id: 'NewApiToken' });

export const createdApiTokenSchema = apiTokenSchema
  .extend({ token: z.string().describe('The service token, shown only in this response') })
  .meta({ id: 'CreatedApiToken' });

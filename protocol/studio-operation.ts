import { z } from 'zod';
import { BODY_BYTES } from './limits.ts';
import { MEMBER_ROLES, PRODUCING_ROLES } from './members.ts';
import { idempotencyKeySchema } from './studio.ts';

// Common fields of studio operations, by the roles that may call them (SPEC U). An operation gives
// its own `errors` if its path names no resource or if it returns other statuses.

const studio = { role: 'studio', access: 'studio', bodyBytes: BODY_BYTES } as const;
const idempotent = {
  headers: z.object({ 'Idempotency-Key': idempotencyKeySchema.optional() }),
  errors: [404, 409],
} as const;

export const memberRead = { ...studio, roles: MEMBER_ROLES, errors: [404] } as const;
/** A read for owners and hosts. */
export const producerRead = { ...memberRead, roles: PRODUCING_ROLES } as const;
export const ownerRead = { ...studio, roles: ['owner'] } as const;
export const producerWrite = { ...producerRead, ...idempotent } as const;
export const memberWrite = { ...memberRead, ...idempotent } as const;
export const ownerWrite = { ...ownerRead, ...idempotent } as const;

/** An operation without a credential, which takes a password or a link in its body. */
export const publicOperation = { ...studio, access: 'public' } as const;
/** An operation on the caller's session. */
export const sessionOperation = { ...studio, access: 'session' } as const;

/** The responses of an export. @param columns the columns of its rows */
export const exportResponses = (columns: string) => ({
  200: {
    description: `Rows with ${columns}, as of the start of the export`,
    otherTypes: {
      'application/x-ndjson': z.string().describe('One JSON object per line'),
      'text/csv': z.string().describe('A header row, then one record per row (RFC 4180)'),
    },
    headers: { 'Content-Disposition': z.string().describe('Suggested file name') },
  },
});

import { z } from 'zod';
import { BODY_BYTES } from './limits.ts';
import { idempotencyKeySchema } from './studio.ts';

/** What every operation of the producer's API has in common. */
export const studio = { role: 'studio', access: 'service', bodyBytes: BODY_BYTES } as const;

/** The same of one that writes, which an Idempotency-Key makes happen once. */
export const write = {
  ...studio,
  headers: z.object({ 'Idempotency-Key': idempotencyKeySchema.optional() }),
} as const;

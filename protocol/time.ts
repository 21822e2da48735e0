import { z } from 'zod';
import { unixMs } from './text.ts';

/** The service's clock; `Accept: text/plain` gives ISO 8601 instead. */
export const timeSchema = z.object({ now: unixMs, interval: z.int().min(0) }).meta({ id: 'Time' });
export type Time = z.infer<typeof timeSchema>;

/** `iso` gives ISO 8601 whatever `Accept` says: players of DASH cannot send one. */
export const timeQuerySchema = z.object({ format: z.enum(['json', 'iso']).optional() });

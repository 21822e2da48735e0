import { z } from 'zod';
import { unixMs, wholeNumber } from './text.ts';

/** Service time. `Accept: text/plain` returns ISO 8601 instead. */
export const timeSchema = z.object({ now: unixMs, interval: wholeNumber }).meta({ id: 'Time' });
export type Time = z.infer<typeof timeSchema>;

/** `iso` returns ISO 8601 regardless of `Accept`, which DASH players cannot set. */
export const timeQuerySchema = z.object({ format: z.enum(['json', 'iso']).optional() });

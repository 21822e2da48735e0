import { z } from 'zod';
import { PAGE_SIZE, PAGE_SIZE_MAX } from './limits.ts';

// Query parameters of several operations. A query has strings; OpenAPI describes them as integers,
// without the pattern of the string.
const asInteger = { type: 'integer', pattern: undefined } as const;

/** A query parameter with an interval; it may be omitted. */
export const intervalParameter = (description: string) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,15})$/, 'must be an integer without sign or leading zeros')
    .transform(Number)
    .refine(Number.isSafeInteger, 'is too large')
    .optional()
    .meta({ ...asInteger, minimum: 0, description });

export const pageLimit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be a whole number of at least 1')
  .transform(Number)
  .refine((limit) => limit <= PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)
  .default(PAGE_SIZE)
  .meta({
    ...asInteger,
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    description: `Number of entries in a page; ${PAGE_SIZE} by default`,
  });

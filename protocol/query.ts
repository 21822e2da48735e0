import { z } from 'zod';
import { PAGE_SIZE, PAGE_SIZE_MAX } from './limits.ts';

// Parameters of a query that several operations have. The document describes the number, not the
// text that it is in a query.
const number = { type: 'integer', pattern: undefined } as const;

/** An interval; undefined when it is left out. */
export const intervalParameter = (description: string) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,15})$/, 'must be one canonical integer')
    .transform(Number)
    .refine(Number.isSafeInteger, 'is too large')
    .optional()
    .meta({ ...number, minimum: 0, description });

/** How much a page of a list has. */
export const pageLimit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1')
  .transform(Number)
  .refine((limit) => limit <= PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)
  .default(PAGE_SIZE)
  .meta({
    ...number,
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    description: `${PAGE_SIZE} when it is left out`,
  });

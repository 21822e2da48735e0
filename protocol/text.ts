import { z } from 'zod';

// Control characters (C0, DEL, C1) break logs, terminals and CSV.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const NOT_WELL_FORMED = 'must be well-formed Unicode (it contains a lone surrogate)';

/**
 * A text for people: 1 to `maxChars` code points, well-formed Unicode, no control characters, not
 * blank. Leading and trailing whitespace is kept.
 */
export function text(maxChars: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .max(maxChars, `must be at most ${maxChars} characters`)
    .refine((value) => value.isWellFormed(), NOT_WELL_FORMED)
    .refine((value) => !CONTROL.test(value), 'must not contain control characters')
    .refine((value) => value.trim() !== '', 'must not be blank');
}

/** A uuid (RFC 9562); upper case is folded to lower. */
export const uuid = z
  .guid({ error: ({ code }) => (code === 'invalid_type' ? undefined : 'must be a uuid') })
  .toLowerCase();

// Pages cannot format a later time, and ISO 8601 writes its year with a sign.
const UNIX_MS_MAX = Date.UTC(10_000, 0) - 1;
/** A moment in Unix milliseconds, before the year 10,000. */
export const unixMs = z.int().min(0).max(UNIX_MS_MAX);

/** A whole number of at least 0. */
export const wholeNumber = z.int().min(0);

/** A change of at least one of these fields. */
export const patchOf = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z
    .strictObject(fields)
    .partial()
    .refine((body) => Object.keys(body).length > 0, 'must contain at least one field to change');

/** An absolute http or https URL, stored as sent. zod's own type trims and is more lenient. */
export const httpUrl = z
  .string()
  .max(2048, 'must be at most 2048 characters')
  .refine(
    (value) => !CONTROL.test(value) && !/\s/.test(value),
    'must not contain white space or control characters',
  )
  .refine(
    (value) => /^https?:\/\/[^/?#\\]/i.test(value) && URL.canParse(value),
    'must be an absolute http or https URL',
  )
  .meta({ format: 'uri' });

const EMAIL_CHARS_MAX = 254;

/** An email address; only its form is checked. */
export const email = z
  .string()
  .min(3, 'must be at least 3 characters')
  .max(EMAIL_CHARS_MAX, `must be at most ${EMAIL_CHARS_MAX} characters`)
  .refine((value) => value.isWellFormed(), NOT_WELL_FORMED)
  .regex(/^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u, 'must contain one @ and no spaces');

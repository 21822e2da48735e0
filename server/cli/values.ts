import { InvalidArgumentError } from '@commander-js/extra-typings';
import { z } from 'zod';
import { text, uuid } from '../../protocol/text.ts';

const NAME_CHARS = 80;

const email = z
  .string()
  .min(3)
  .max(254)
  .regex(/^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u);

/** An email address of an account. */
export function parseEmail(value: string): string {
  return checked(value, email, 'must have 3 to 254 characters, one @ in them, and no spaces');
}

/** A name of an account or of a token. */
export function parseName(value: string): string {
  return checked(value, text(NAME_CHARS));
}

/** The id of an API token. */
export function parseId(value: string): string {
  return checked(value, uuid);
}

/** A parser of whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

function checked<T extends z.ZodType>(value: string, schema: T, problem?: string): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidArgumentError(`It ${problem ?? result.error.issues[0]?.message}.`);
}

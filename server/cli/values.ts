import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { email, text, uuid } from '../../protocol/text.ts';

const NAME_CHARS = 80;

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

// The smallest whose digits can be read, and the largest that is of any use.
const PICTURE_LEAST = { width: 160, height: 90 };
const PICTURE_MOST = { width: 3_840, height: 2_160 };

/** A size of a picture, such as `640x360`. */
export function pictureSize(value: string): { width: number; height: number } {
  const [, width = 0, height = 0] = (/^(\d{1,4})x(\d{1,4})$/.exec(value) ?? []).map(Number);
  const isWithin =
    Math.min(width / PICTURE_LEAST.width, height / PICTURE_LEAST.height) >= 1 &&
    Math.max(width / PICTURE_MOST.width, height / PICTURE_MOST.height) <= 1;
  if (isWithin && width % 2 === 0 && height % 2 === 0) return { width, height };
  throw new InvalidArgumentError('It must be two even numbers, from 160x90 to 3840x2160.');
}

function checked<T extends z.ZodType>(value: string, schema: T, problem?: string): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidArgumentError(`It ${problem ?? result.error.issues[0]?.message}.`);
}

import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { email, text, uuid } from '../../protocol/text.ts';

const NAME_CHARS_MAX = 80;

/** Parses the email address of an account. */
export function parseEmail(value: string): string {
  return parseWith(value, email, 'must have 3 to 254 characters, with one @ and no spaces');
}

/** Parses the email address or the id of an account. */
export function parseAccount(value: string): string {
  return value.includes('@') ? parseEmail(value) : parseId(value);
}

/** Parses the name of an account or a token. */
export function parseName(value: string): string {
  return parseWith(value, text(NAME_CHARS_MAX));
}

/** Parses the id of a stream or an API token. */
export function parseId(value: string): string {
  return parseWith(value, uuid);
}

/** A parser of whole numbers from `min` to `max`. */
export function parseWholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

// The digits of the test picture are not readable below the minimum.
const PICTURE_MIN = { width: 160, height: 90 };
const PICTURE_MAX = { width: 3_840, height: 2_160 };

/** Parses the size of a picture, such as `640x360`. */
export function parsePictureSize(value: string): { width: number; height: number } {
  const [, width = 0, height = 0] = (/^(\d{1,4})x(\d{1,4})$/.exec(value) ?? []).map(Number);
  const isWithin =
    Math.min(width / PICTURE_MIN.width, height / PICTURE_MIN.height) >= 1 &&
    Math.max(width / PICTURE_MAX.width, height / PICTURE_MAX.height) <= 1;
  if (isWithin && width % 2 === 0 && height % 2 === 0) return { width, height };
  throw new InvalidArgumentError('It must be two even numbers, from 160x90 to 3840x2160.');
}

function parseWith<T extends z.ZodType>(value: string, schema: T, problem?: string): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidArgumentError(`It ${problem ?? result.error.issues[0]?.message}.`);
}

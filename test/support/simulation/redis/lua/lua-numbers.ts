const DECIMAL = /^[ \t\n\v\f\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[ \t\n\v\f\r]*$/;
const HEXADECIMAL = /^[ \t\n\v\f\r]*([+-]?)(0[xX][\da-fA-F]+)[ \t\n\v\f\r]*$/;

/** The number that a string means in Lua 5.1; `undefined` when it means none. */
export function parseLuaNumber(text: string): number | undefined {
  return parseDigits(text) ?? parseOther(text);
}

/** Most numbers are a few digits, and a regular expression takes longer. */
function parseDigits(text: string): number | undefined {
  if (text.length === 0 || text.length > 15) return undefined;
  let value = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function parseOther(text: string): number | undefined {
  const decimal = DECIMAL.exec(text);
  if (decimal) return Number(decimal[1]);
  const hexadecimal = HEXADECIMAL.exec(text);
  if (!hexadecimal) return undefined;
  return Number(hexadecimal[2]) * (hexadecimal[1] === '-' ? -1 : 1);
}

/** The text of a number in Lua 5.1: `%.14g`. */
export function formatLuaNumber(value: number): string {
  return isPlainInteger(value, 1e14) ? String(value) : formatG(value, 14);
}

/** The text of a number as an argument of `redis.call` in Redis 7: `%.17g`. */
export function formatArgument(value: number): string {
  return isPlainInteger(value, 2 ** 53) ? String(value) : formatG(value, 17);
}

function isPlainInteger(value: number, end: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < end && !Object.is(value, -0);
}

/** The conversion `%.<digits>g` of C. */
function formatG(value: number, digits: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', power = ''] = value.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digits) {
    return trimZeros(value.toFixed(Math.max(0, digits - 1 - exponent)));
  }
  const sign = exponent < 0 ? '-' : '+';
  return `${trimZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

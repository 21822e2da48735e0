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
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (!Number.isFinite(value)) return `${sign}inf`;
  if (value === 0) return `${sign}0`;
  const { significant, exponent } = roundToDigits(Math.abs(value), digits);
  if (exponent >= digits || exponent < -4) {
    const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
    return `${sign}${trimZeros(`${significant[0]}.${significant.slice(1)}`)}e${power}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${significant.replace(/0+$/, '')}`;
  const whole = significant.slice(0, exponent + 1);
  return sign + trimZeros(`${whole}.${significant.slice(exponent + 1)}`);
}

/** The first digits of a positive number. Of two equally near ones C takes the even, JavaScript the larger. */
function roundToDigits(value: number, digits: number): { significant: string; exponent: number } {
  const [rounded = '', power] = value.toExponential(digits - 1).split('e');
  const significant = rounded.replace('.', '');
  const exact = value.toExponential(EXACT_DIGITS).split('e')[0]?.replace('.', '') ?? '';
  const kept = exact.slice(0, digits);
  const isTie = /^50*$/.test(exact.slice(digits)) && Number(kept.at(-1)) % 2 === 0;
  return { significant: isTie ? kept : significant, exponent: Number(power) };
}

/** JavaScript writes no more digits. Numbers halfway between two texts have fewer. */
const EXACT_DIGITS = 100;

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

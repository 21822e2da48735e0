const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Random characters of 0–9, A–Z and a–z, uniformly distributed: 5.95 bits each.
 * @param randomBytes cryptographically secure source of `n` bytes
 */
export function randomBase62(length: number, randomBytes: (n: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte; larger bytes would favor some characters.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * So many random characters of 0–9, A–Z and a–z, each as likely as the others: 5.95 bits.
 * @param randomBytes secure source, `n` bytes at a time
 */
export function randomBase62(chars: number, randomBytes: (n: number) => Uint8Array): string {
  let text = '';
  while (text.length < chars) {
    for (const byte of randomBytes(chars)) {
      // 248 is the largest multiple of 62 in a byte: above it, some characters would be likelier.
      if (byte < 248 && text.length < chars) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

import { createHmac } from 'node:crypto';
import { newSecret, type RandomBytes, sameHash } from '../secrets.ts';

const DEVICE_PATTERN = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

/** Whether a text has the format of a device's cookie. */
export function isDeviceFormat(text: string): boolean {
  return DEVICE_PATTERN.test(text);
}

/**
 * Browsers in which a member signed in before. Each gets a random number, signed with the email, so
 * that its passwords are counted apart from those of guessers (SPEC L-16): in any network, on any node
 * and after a restart. The number alone signs nobody in.
 */
export class KnownDevices {
  constructor(
    private readonly secret: string,
    private readonly randomBytes: RandomBytes,
  ) {}

  /** A new value for the cookie of a browser in which the member with this email signed in. */
  issue(email: string): string {
    const id = newSecret(this.randomBytes);
    return `${id}.${this.sign(id, email)}`;
  }

  /** The number of a device; null when no member with this email signed in there. */
  find(cookie: string | null, email: string): string | null {
    const [, id, signature] = DEVICE_PATTERN.exec(cookie ?? '') ?? [];
    if (id === undefined || signature === undefined) return null;
    return sameHash(signature, this.sign(id, email)) ? id : null;
  }

  private sign(id: string, email: string): string {
    return createHmac('sha256', this.secret).update(`${id}\0${email}`).digest('base64url');
  }
}

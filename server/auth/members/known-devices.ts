import { createHmac } from 'node:crypto';
import { newSecret, type RandomBytes, sameHash } from '../secrets.ts';
import { DEVICE_LIFETIME_MS } from './member-rules.ts';

const SECRET = '[A-Za-z0-9_-]{43}';
const DEVICE_PATTERN = new RegExp(`^(${SECRET})\\.([0-9a-f-]{36})\\.(\\d{13})\\.(${SECRET})$`);

/** Whether a text has the format of a device's cookie. */
export function isDeviceFormat(text: string): boolean {
  return DEVICE_PATTERN.test(text);
}

/** A browser in which a member signed in. */
export interface KnownDevice {
  readonly id: string;
  /** The UUID of the member. */
  readonly member: string;
}

/**
 * Browsers in which a member signed in before. Each gets a random number, signed with the member, the email and the
 * time, so that its passwords are counted apart from those of guessers (SPEC L-16): in any network, on any node
 * and after a restart. The cookie alone signs nobody in. The signature covers the member too: an email may have been
 * a member of another account before, whose devices must not count for this one.
 */
export class KnownDevices {
  constructor(
    private readonly secret: string,
    private readonly randomBytes: RandomBytes,
  ) {}

  /** A new value for the cookie of a browser in which a member signed in. */
  issue({ uuid, email }: { uuid: string; email: string }, nowMs: number): string {
    const device = `${newSecret(this.randomBytes)}.${uuid}.${Math.floor(nowMs)}`;
    return `${device}.${this.sign(device, email)}`;
  }

  /** The device; null when no member with this email signed in there within `DEVICE_LIFETIME_MS`. */
  find(cookie: string | null, email: string, nowMs: number): KnownDevice | null {
    const [, id, member, issuedMs, signature] = DEVICE_PATTERN.exec(cookie ?? '') ?? [];
    if (id === undefined || member === undefined || signature === undefined) return null;
    if (!sameHash(signature, this.sign(`${id}.${member}.${issuedMs}`, email))) return null;
    return nowMs - Number(issuedMs) < DEVICE_LIFETIME_MS ? { id, member } : null;
  }

  private sign(device: string, email: string): string {
    return createHmac('sha256', this.secret).update(`${device}\0${email}`).digest('base64url');
  }
}

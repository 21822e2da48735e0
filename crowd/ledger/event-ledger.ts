// More than a show asks for within any deadline.
const EVENTS_MAX = 1_000;

interface KnownEvent {
  /** When it must have been promised and seen, by the crowd's clock. */
  dueMs: number;
  isExpected: boolean;
  seen: number;
  isChecked: boolean;
}

/**
 * Which events the feed owes us (I-2): each that was promised is seen once, and none that was not
 * promised. An event may be seen before we hear of its promise.
 */
export class EventLedger {
  private readonly events = new Map<string, KnownEvent>();

  /** The service owes this event. @param dueMs when it must have been read */
  expect(key: string, dueMs: number): void {
    const event = this.eventOf(key, dueMs);
    event.isExpected = true;
    event.dueMs = Math.max(event.dueMs, dueMs);
  }

  /** The event was read in the feed. @param dueMs when its promise must be known */
  seen(key: string, dueMs: number): void {
    this.eventOf(key, dueMs).seen++;
  }

  /** Checks the events that are due: what is wrong with each, or null. */
  check(nowMs: number): (string | null)[] {
    const outcomes: (string | null)[] = [];
    for (const [key, event] of this.events) {
      if (event.isChecked && event.seen > 1) outcomes.push(`event ${key} is in the feed again`);
      else if (event.isChecked || event.dueMs > nowMs) continue;
      else if (event.seen > 1) outcomes.push(`event ${key} is in the feed ${event.seen} times`);
      else if (event.seen === 0) outcomes.push(`event ${key} is not in the feed`);
      else if (!event.isExpected) outcomes.push(`event ${key} is in the feed, and nobody sent it`);
      else outcomes.push(null);
      event.isChecked = true;
      event.seen = Math.min(event.seen, 1);
    }
    return outcomes;
  }

  private eventOf(key: string, dueMs: number): KnownEvent {
    const known = this.events.get(key);
    if (known) return known;
    const event = { dueMs, isExpected: false, seen: 0, isChecked: false };
    this.events.set(key, event);
    for (const oldest of this.events.keys()) {
      if (this.events.size <= EVENTS_MAX) break;
      this.events.delete(oldest);
    }
    return event;
  }
}

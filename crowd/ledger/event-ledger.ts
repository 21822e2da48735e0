// Bound of the stored events; a show has fewer within any deadline.
const EVENTS_MAX = 1_000;

interface TrackedEvent {
  /** Deadline by which it must have been expected and seen, service time. */
  dueMs: number;
  isExpected: boolean;
  seen: number;
  isChecked: boolean;
}

/**
 * Checks that each acknowledged event is in the feed once and no other event is (I-2). An event may be
 * seen before its acknowledgment is known.
 */
export class EventLedger {
  private readonly events = new Map<string, TrackedEvent>();

  /** Expects an event. @param dueMs deadline by which it must have been read */
  expect(key: string, dueMs: number): void {
    const event = this.eventOf(key, dueMs);
    event.isExpected = true;
    event.dueMs = Math.max(event.dueMs, dueMs);
  }

  /** Takes an event of the feed. @param dueMs deadline by which it must have been expected */
  onEvent(key: string, dueMs: number): void {
    this.eventOf(key, dueMs).seen++;
  }

  /** Checks the events that are due. @returns a mismatch for each, or null where it is correct */
  check(nowMs: number): (string | null)[] {
    const outcomes: (string | null)[] = [];
    for (const [key, event] of this.events) {
      if (event.isChecked && event.seen > 1) outcomes.push(`event ${key} is in the feed again`);
      else if (event.isChecked || event.dueMs > nowMs) continue;
      else if (event.seen > 1) outcomes.push(`event ${key} is in the feed ${event.seen} times`);
      else if (event.seen === 0) outcomes.push(`event ${key} is not in the feed`);
      else if (!event.isExpected) outcomes.push(`event ${key} is in the feed, but was not sent`);
      else outcomes.push(null);
      event.isChecked = true;
      event.seen = Math.min(event.seen, 1);
    }
    return outcomes;
  }

  private eventOf(key: string, dueMs: number): TrackedEvent {
    const existing = this.events.get(key);
    if (existing) return existing;
    const event = { dueMs, isExpected: false, seen: 0, isChecked: false };
    this.events.set(key, event);
    for (const oldest of this.events.keys()) {
      if (this.events.size <= EVENTS_MAX) break;
      this.events.delete(oldest);
    }
    return event;
  }
}

// Bound of the stored events: more than a show has between an event and its deadline.
const EVENTS_MAX = 1_000;

interface TrackedEvent {
  /** Deadline by which it must have been expected and seen, service time. */
  dueMs: number;
  isExpected: boolean;
  count: number;
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
    this.eventOf(key, dueMs).count++;
  }

  /** Checks the events that are due. @returns for each event its mismatch, or null if it is correct */
  check(nowMs: number): (string | null)[] {
    const outcomes: (string | null)[] = [];
    for (const [key, event] of this.events) {
      if (event.isChecked && event.count > 1) outcomes.push(`event ${key} is in the feed again`);
      else if (event.isChecked || event.dueMs > nowMs) continue;
      else if (event.count > 1) outcomes.push(`event ${key} is in the feed ${event.count} times`);
      else if (event.count === 0) outcomes.push(`event ${key} is not in the feed`);
      else if (!event.isExpected) outcomes.push(`event ${key} is in the feed, but was not sent`);
      else outcomes.push(null);
      event.isChecked = true;
      event.count = Math.min(event.count, 1);
    }
    return outcomes;
  }

  private eventOf(key: string, dueMs: number): TrackedEvent {
    const existing = this.events.get(key);
    if (existing) return existing;
    const event = { dueMs, isExpected: false, count: 0, isChecked: false };
    this.events.set(key, event);
    for (const oldest of this.events.keys()) {
      if (this.events.size <= EVENTS_MAX) break;
      this.events.delete(oldest);
    }
    return event;
  }
}

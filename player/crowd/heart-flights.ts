/** A heart that rises. */
export interface Flight {
  readonly id: number;
  /** From 0, left, to 1, right, of the lane that they rise in. */
  readonly place: number;
  /** How far it swings, −1 to 1. */
  readonly sway: number;
  /** 1: the usual size. */
  readonly size: number;
  readonly delayMs: number;
  readonly durationMs: number;
}

/** No more are in the air, however many are sent: a phone has to draw them beside a video. */
export const FLIGHTS_MAX = 24;
/** Of one change. */
const LAUNCHED_MAX = 8;
/** Those of one change leave one after another. */
const SPREAD_MS = 900;

/** Hearts in the air, and how many there have ever been. */
export interface Air {
  readonly flights: readonly Flight[];
  readonly count: number;
}

export const EMPTY_AIR: Air = { flights: [], count: 0 };

/** @returns the air with new hearts. @param added how many were sent */
export function launched(air: Air, added: number, random: () => number): Air {
  const count = Math.min(added, LAUNCHED_MAX, FLIGHTS_MAX - air.flights.length);
  if (count <= 0) return air;
  const those = Array.from({ length: count }, (_, number) => ({
    // Never again: a heart that has landed is another one.
    id: air.count + number,
    place: random(),
    sway: random() * 2 - 1,
    size: 0.8 + random() * 0.5,
    delayMs: count === 1 ? 0 : Math.round(((number + random() * 0.6) / count) * SPREAD_MS),
    durationMs: Math.round(2_200 + random() * 1_200),
  }));
  return { flights: [...air.flights, ...those], count: air.count + count };
}

/** @returns the air without that heart */
export function landed(air: Air, id: number): Air {
  return { ...air, flights: air.flights.filter((flight) => flight.id !== id) };
}

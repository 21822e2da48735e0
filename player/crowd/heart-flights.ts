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

/** @returns those in the air with new ones. @param added how many hearts were sent */
export function launched(
  flying: readonly Flight[],
  added: number,
  random: () => number,
): readonly Flight[] {
  const count = Math.min(added, LAUNCHED_MAX, FLIGHTS_MAX - flying.length);
  if (count <= 0) return flying;
  const first = (flying.at(-1)?.id ?? 0) + 1;
  const those = Array.from({ length: count }, (_, number) => ({
    id: first + number,
    place: random(),
    sway: random() * 2 - 1,
    size: 0.8 + random() * 0.5,
    delayMs: count === 1 ? 0 : Math.round(((number + random() * 0.6) / count) * SPREAD_MS),
    durationMs: Math.round(2_200 + random() * 1_200),
  }));
  return [...flying, ...those];
}

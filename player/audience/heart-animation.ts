export interface FloatingHeart {
  readonly id: number;
  /** Horizontal position in the lane, from 0 (left) to 1 (right). */
  readonly x: number;
  /** How far and to which side it sways, −1 to 1. */
  readonly sway: number;
  /** Scale; 1 is the usual size. */
  readonly size: number;
  readonly delayMs: number;
  readonly durationMs: number;
}

/** The maximum on screen: a phone has to draw them beside a video. */
export const HEARTS_ON_SCREEN_MAX = 24;
/** The maximum that one change of the count adds. */
const HEARTS_PER_CHANGE_MAX = 8;
/** The hearts of one change start within this time. */
const STAGGER_MS = 900;

export interface HeartAnimation {
  readonly hearts: readonly FloatingHeart[];
  /** How many there have been in all; the next id. */
  readonly total: number;
}

export const NO_HEARTS: HeartAnimation = { hearts: [], total: 0 };

/** @returns the animation with new hearts. @param added how many were sent */
export function addHearts(animation: HeartAnimation, added: number, random: () => number) {
  const { hearts, total } = animation;
  const count = Math.min(added, HEARTS_PER_CHANGE_MAX, HEARTS_ON_SCREEN_MAX - hearts.length);
  if (count <= 0) return animation;
  const started = Array.from({ length: count }, (_, index) => ({
    // Ids are never reused: React restarts an animation only with a new key.
    id: total + index,
    x: random(),
    sway: random() * 2 - 1,
    size: 0.8 + random() * 0.5,
    delayMs: count === 1 ? 0 : Math.round(((index + random() * 0.6) / count) * STAGGER_MS),
    durationMs: Math.round(2_200 + random() * 1_200),
  }));
  return { hearts: [...hearts, ...started], total: total + count };
}

/** @returns the animation without a heart that has ended */
export function removeHeart(animation: HeartAnimation, id: number): HeartAnimation {
  return { ...animation, hearts: animation.hearts.filter((heart) => heart.id !== id) };
}

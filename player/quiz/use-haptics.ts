import { useEffect } from 'react';
import { useReducedMotion } from '../reduced-motion.ts';

/** Vibrations and the pauses between them, ms, in turn. */
const PATTERNS_MS = {
  opened: [40],
  answered: [15],
  correct: [20, 60, 20],
  won: [60, 60, 60, 60, 160],
} as const;

/**
 * Vibrates a phone when `moment` changes to one with a pattern. Browsers allow it once the viewer has
 * touched the page.
 */
export function useHaptics(moment: keyof typeof PATTERNS_MS | null): void {
  const hasReducedMotion = useReducedMotion();
  useEffect(() => {
    if (moment === null || hasReducedMotion || !navigator.userActivation?.hasBeenActive) return;
    navigator.vibrate?.([...PATTERNS_MS[moment]]);
  }, [moment, hasReducedMotion]);
}

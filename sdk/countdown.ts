import { intervalStartMs } from '../protocol/interval.ts';
import type { ServiceClock } from './clock.ts';
import type { Picture, Quiz } from './types.ts';

/** The countdown ends so long before answers stop: an answer has to get there. */
const WAY_MS = 100;

/** How long an answer to a quiz that is on screen is in time, ms: by the picture, and by the service. */
export function countdownMs(
  quiz: Quiz,
  clock: Pick<ServiceClock, 'nowMs' | 'errorMs'>,
  picture: Pick<Picture, 'wallClockMs'> | null,
): number {
  const nowMs = clock.nowMs();
  const onScreenMs = picture?.wallClockMs() ?? nowMs;
  const closeMs = intervalStartMs(quiz.closeInterval) - clock.errorMs - WAY_MS;
  return Math.max(0, Math.min(quiz.created + quiz.duration - onScreenMs, closeMs - nowMs));
}

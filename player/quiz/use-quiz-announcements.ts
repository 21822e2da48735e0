import { useEffect, useRef, useState } from 'react';
import { announcementOf, type QuizState, warningOf } from './quiz-announcements.ts';

/** Texts for live regions. */
interface QuizAnnouncements {
  /** Interrupts other speech. */
  readonly announcement: string;
  /** Waits for other speech. */
  readonly warning: string;
}

/** @returns the last announcement, and the warning after it */
export function useQuizAnnouncements(now: QuizState): QuizAnnouncements {
  const before = useRef<QuizState | null>(null);
  /** The time that was left at the last announcement, ms. */
  const announcedMs = useRef(0);
  const [announcements, setAnnouncements] = useState<QuizAnnouncements>({
    announcement: '',
    warning: '',
  });
  useEffect(() => {
    const announcement = announcementOf(before.current, now);
    const warning = warningOf(before.current, now, announcedMs.current);
    before.current = now;
    if (announcement) {
      announcedMs.current = now.remainingMs;
      setAnnouncements({ announcement, warning: '' });
    } else if (warning) {
      setAnnouncements((last) => ({ ...last, warning }));
    }
  });
  return announcements;
}

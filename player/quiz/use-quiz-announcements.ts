import { useEffect, useRef, useState } from 'react';
import { announcementOf, type QuizState, warningOf } from './quiz-announcements.ts';

/** @returns texts for live regions: the last announcement, and the warning after it */
export function useQuizAnnouncements(now: QuizState) {
  const before = useRef<QuizState | null>(null);
  /** The time that was left at the last announcement, ms. */
  const announcedMs = useRef(0);
  const [announcements, setAnnouncements] = useState({ announcement: '', warning: '' });
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

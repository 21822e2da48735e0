import { useEffect, useRef, useState } from 'react';
import { type Heard, voiceOf, warningOf } from './quiz-voice.ts';

/** What a screen reader is to say of the quiz. */
interface QuizVoice {
  /** At once. */
  readonly words: string;
  /** When nothing else is read out. */
  readonly warning: string;
}

/** What was said last. */
export function useQuizVoice(now: Heard): QuizVoice {
  const before = useRef<Heard | null>(null);
  /** How much was left when words were said last, ms. */
  const saidMs = useRef(0);
  const [voice, setVoice] = useState<QuizVoice>({ words: '', warning: '' });
  useEffect(() => {
    const words = voiceOf(before.current, now);
    const warning = warningOf(before.current, now, saidMs.current);
    before.current = now;
    if (words) {
      saidMs.current = now.remainingMs;
      setVoice({ words, warning: '' });
    } else if (warning) {
      setVoice((said) => ({ ...said, warning }));
    }
  });
  return voice;
}

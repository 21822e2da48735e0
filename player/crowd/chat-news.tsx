import { useEffect, useRef, useState } from 'react';
import type { Line } from './chat-items.ts';
import { linesAfter, newsOf } from './news-words.ts';

/** A chat is read out no more often. */
const EACH_MS = 8_000;

/** Tells screen readers what is new in the chat; a button that the keyboard finds ends it. */
export function ChatNews({ lines }: { readonly lines: readonly Line[] }) {
  const [isOn, setIsOn] = useState(true);
  const [news, setNews] = useState('');
  const newest = useRef(lines);
  newest.current = lines;

  useEffect(() => {
    if (!isOn) return;
    let told = newest.current.at(-1)?.id ?? null;
    const timer = setInterval(() => {
      const words = newsOf(linesAfter(newest.current, told));
      told = newest.current.at(-1)?.id ?? null;
      if (words) setNews(words);
    }, EACH_MS);
    return () => clearInterval(timer);
  }, [isOn]);

  return (
    <>
      <button
        type="button"
        className="unseen chat-news"
        aria-pressed={isOn}
        onClick={() => setIsOn(!isOn)}
      >
        Read new lines out
      </button>
      <p className="unseen" role="status">
        {isOn ? news : ''}
      </p>
    </>
  );
}

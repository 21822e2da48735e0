import { Maximize } from 'lucide-react';
import { useEffect, useState } from 'react';

/** It is there so long after the mouse was moved. */
const SEEN_MS = 3_000;

/** There while somebody moves the mouse, and for keyboards; nothing of it is on a wall that stands. */
export function FullScreenButton() {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const moved = () => {
      setSeen(true);
      clearTimeout(timer);
      timer = setTimeout(() => setSeen(false), SEEN_MS);
    };
    addEventListener('pointermove', moved);
    return () => {
      clearTimeout(timer);
      removeEventListener('pointermove', moved);
    };
  }, []);
  useEffect(() => {
    document.documentElement.classList.toggle('still', !isSeen);
  }, [isSeen]);
  if (!document.fullscreenEnabled) return null;
  const turn = () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void document.documentElement.requestFullscreen().catch(() => {});
  };
  return (
    <button
      type="button"
      className={isSeen ? 'full-screen full-screen--seen' : 'full-screen'}
      onClick={turn}
    >
      <Maximize aria-hidden="true" />
      Full screen
    </button>
  );
}

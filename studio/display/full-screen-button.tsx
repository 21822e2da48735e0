import { Maximize } from 'lucide-react';
import { useEffect, useState } from 'react';

/** Time for which the button is visible after a mouse move. */
const VISIBLE_MS = 3_000;

/** Hidden unless the mouse moves or the button has keyboard focus: an audience sees the display. */
export function FullScreenButton() {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const onPointerMove = () => {
      setVisible(true);
      clearTimeout(timer);
      timer = setTimeout(() => setVisible(false), VISIBLE_MS);
    };
    addEventListener('pointermove', onPointerMove);
    return () => {
      clearTimeout(timer);
      removeEventListener('pointermove', onPointerMove);
    };
  }, []);
  useEffect(() => {
    document.documentElement.classList.toggle('still', !isVisible);
  }, [isVisible]);
  if (!document.fullscreenEnabled) return null;
  const toggle = () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void document.documentElement.requestFullscreen().catch(() => {});
  };
  return (
    <button
      type="button"
      className={isVisible ? 'full-screen full-screen--visible' : 'full-screen'}
      onClick={toggle}
    >
      <Maximize />
      Full screen
    </button>
  );
}

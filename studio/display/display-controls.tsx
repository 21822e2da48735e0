import { Maximize, Volume2, VolumeX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useSoundSwitch } from '../../player/sound/sounds.ts';
import { texts } from './texts.ts';

/** Time for which the buttons are visible after a mouse move. */
const VISIBLE_MS = 3_000;

/** Hidden unless the mouse moves or a button has keyboard focus: an audience sees the display. */
export function DisplayControls() {
  const isVisible = useVisibleAfterMove();
  const [hasSound, switchSound] = useSoundSwitch();
  return (
    <div className={isVisible ? 'display-controls display-controls--visible' : 'display-controls'}>
      <button type="button" aria-pressed={hasSound} onClick={switchSound}>
        {hasSound ? <Volume2 /> : <VolumeX />}
        {texts.sounds}
      </button>
      {document.fullscreenEnabled && (
        <button type="button" onClick={toggleFullScreen}>
          <Maximize />
          {texts.fullScreen}
        </button>
      )}
    </div>
  );
}

function useVisibleAfterMove(): boolean {
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
  return isVisible;
}

function toggleFullScreen(): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void document.documentElement.requestFullscreen().catch(() => {});
}

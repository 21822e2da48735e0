import { useEffect, useRef } from 'react';
import './media-elements.ts';
import type { StageVideo } from './stage-video.ts';

interface ControlsProps {
  readonly video: StageVideo;
  /** Whether there is a picture to control. */
  readonly isShown: boolean;
  /** Whether there is more to come. */
  readonly isLive: boolean;
}

/** What the elements of media-chrome need of the controller besides its attributes. */
interface Controller extends HTMLElement {
  fullscreenElement: HTMLElement;
}

// Players stay so far behind the newest frame, s.
const BEHIND_LIVE_S = '3';

/**
 * The picture with its controls: for fingers, mice, keyboards and screen readers. Where only a bare
 * video can have the whole screen, as on iPhones, it cannot: a quiz would not be seen there.
 */
export function Controls({ video, isShown, isLive }: ControlsProps) {
  const place = useRef<HTMLElement>(null);

  useEffect(() => {
    const controller = place.current as Controller | null;
    if (!controller) return;
    // The whole stage, so that a quiz is seen in full screen too.
    const stage = controller.closest('.stage');
    if (stage instanceof HTMLElement) controller.fullscreenElement = stage;
    controller.prepend(video);
    return () => video.remove();
  }, [video]);

  return (
    <media-controller
      ref={place}
      className={isShown ? 'stage-player' : 'stage-player stage-player--idle'}
      autohide="3"
      nosubtitleslangpref=""
      seektoliveoffset={BEHIND_LIVE_S}
    >
      <media-loading-indicator slot="centered-chrome" noautohide="" />
      <media-rendition-menu hidden anchor="auto" />
      <media-time-range />
      <media-control-bar>
        <media-play-button />
        <media-mute-button />
        <media-volume-range />
        {isLive ? (
          <media-live-button>
            <span slot="text" className="at-live">
              Live
            </span>
            <span slot="text" className="behind-live">
              Go to live
            </span>
          </media-live-button>
        ) : (
          <media-time-display showduration="" />
        )}
        <span className="stage-room" />
        <media-rendition-menu-button />
        <media-pip-button />
        {document.fullscreenEnabled && <media-fullscreen-button />}
      </media-control-bar>
    </media-controller>
  );
}

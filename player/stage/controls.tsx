import { useEffect, useRef } from 'react';
import { Icon } from '../icon.tsx';
import './media-elements.ts';
import type { StageVideo } from './stage-video.ts';
import { useKeyboardWithin } from './use-keyboard-within.ts';

interface ControlsProps {
  readonly video: StageVideo;
  /** Whether there is a picture to control. */
  readonly isShown: boolean;
  /** Whether there is more to come. */
  readonly isLive: boolean;
  /** Whether the stage has the whole window. */
  readonly isFilled: boolean;
  /** null: it need not. */
  readonly onFill: ((isFilled: boolean) => void) | null;
}

/** What the elements of media-chrome need of the controller besides its attributes. */
interface Controller extends HTMLElement {
  fullscreenElement: HTMLElement;
}

/** After so many seconds without a hand on them the controls go; they stay under the keyboard. */
const AUTOHIDE_S = '3';
const NEVER = '-1';
// Players stay so far behind the newest frame, s.
const BEHIND_LIVE_S = '3';

/**
 * The picture with its controls: for fingers, mice, keyboards and screen readers. Where only a bare
 * video can have the whole screen, as on iPhones, the stage has the whole window instead: a quiz
 * would not be seen over a bare video.
 */
export function Controls({ video, isShown, isLive, isFilled, onFill }: ControlsProps) {
  const place = useRef<HTMLElement>(null);
  const isKeyboardHere = useKeyboardWithin(place);

  useEffect(() => {
    const controller = place.current as Controller | null;
    if (!controller) return;
    // The whole stage, so that a quiz is seen in full screen too.
    const stage = controller.closest('.stage');
    if (stage instanceof HTMLElement) controller.fullscreenElement = stage;
    controller.prepend(video);
    return () => video.remove();
  }, [video]);

  useEffect(() => {
    // Nobody's hand is on them now; they would wait for the next one to go.
    if (!isKeyboardHere) place.current?.dispatchEvent(new Event('mouseleave'));
  }, [isKeyboardHere]);

  return (
    <media-controller
      ref={place}
      className={isShown ? 'stage-player' : 'stage-player stage-player--idle'}
      autohide={isKeyboardHere ? NEVER : AUTOHIDE_S}
      nosubtitleslangpref=""
      seektoliveoffset={BEHIND_LIVE_S}
    >
      <media-loading-indicator slot="centered-chrome" noautohide="" />
      <media-rendition-menu hidden anchor="auto">
        {/* In place of a way back to another menu, which there is not: a menu may have no button. */}
        <span slot="header" hidden />
      </media-rendition-menu>
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
        {document.fullscreenEnabled ? (
          <media-fullscreen-button />
        ) : (
          onFill && (
            <button
              type="button"
              className="stage-fill"
              aria-pressed={isFilled}
              onClick={() => onFill(!isFilled)}
            >
              <Icon name={isFilled ? 'unfill' : 'fill'} />
              <span className="unseen">Fill the window</span>
            </button>
          )
        )}
      </media-control-bar>
    </media-controller>
  );
}

import { useEffect, useRef } from 'react';
import { Icon } from '../icon.tsx';
import './media-elements.ts';
import { texts } from '../texts.ts';
import type { StageVideo } from './stage-video.ts';
import { useKeyboardFocusWithin } from './use-keyboard-focus-within.ts';

export interface ControlsProps {
  readonly video: StageVideo;
  /** Whether there is video to control. */
  readonly isShown: boolean;
  /** Whether the stream is live. */
  readonly isLive: boolean;
  /** Whether the stage fills the window. */
  readonly isFilled: boolean;
  /** Sets `isFilled`; null: the stage is alone in the window. */
  readonly onFill: ((isFilled: boolean) => void) | null;
}

/** A property of `<media-controller>` that is not an attribute. */
interface Controller extends HTMLElement {
  fullscreenElement: HTMLElement;
}

/** The controls hide after so many seconds without input, but not while they have keyboard focus. */
const AUTOHIDE_S = '3';
const NEVER = '-1';
// The latency that players keep, seconds.
const BEHIND_LIVE_S = '3';

/**
 * The video with its controls. Where only a `<video>` can be in full screen, as on iPhones, the stage
 * fills the window instead: a quiz would not be visible over a full-screen `<video>`.
 */
export function Controls({ video, isShown, isLive, isFilled, onFill }: ControlsProps) {
  const controllerRef = useRef<HTMLElement>(null);
  const hasKeyboardFocus = useKeyboardFocusWithin(controllerRef);

  useEffect(() => {
    const controller = controllerRef.current as Controller | null;
    if (!controller) return;
    // The whole stage goes to full screen, with its overlays.
    const stage = controller.closest('.stage');
    if (stage instanceof HTMLElement) controller.fullscreenElement = stage;
    controller.prepend(video);
    return () => video.remove();
  }, [video]);

  useEffect(() => {
    // Starts the timer that hides the controls; media-chrome waits for the next pointer otherwise.
    if (!hasKeyboardFocus) controllerRef.current?.dispatchEvent(new Event('mouseleave'));
  }, [hasKeyboardFocus]);

  return (
    <media-controller
      ref={controllerRef}
      className={isShown ? 'stage-player' : 'stage-player stage-player--idle'}
      autohide={hasKeyboardFocus ? NEVER : AUTOHIDE_S}
      nosubtitleslangpref=""
      seektoliveoffset={BEHIND_LIVE_S}
    >
      <media-loading-indicator slot="centered-chrome" noautohide="" />
      <media-rendition-menu hidden anchor="auto">
        {/* Replaces the default back button: a menu must not contain a button. */}
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
              {texts.stage.live}
            </span>
            <span slot="text" className="behind-live">
              {texts.stage.goToLive}
            </span>
          </media-live-button>
        ) : (
          <media-time-display showduration="" />
        )}
        <span className="stage-spacer" />
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
              <span className="unseen">{texts.stage.fillWindow}</span>
            </button>
          )
        )}
      </media-control-bar>
    </media-controller>
  );
}

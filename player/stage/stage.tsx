import { type ReactNode, useState } from 'react';
import type { ShownShow } from '../../protocol/show-page.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';
import { Controls, type ControlsProps } from './controls.tsx';
import { Notice } from './notice.tsx';
import { PlaybackStats } from './playback-stats.tsx';
import { type StageStatus, stageStatus } from './stage-status.ts';
import type { StageVideo } from './stage-video.ts';
import { StatusBadge } from './status-badge.tsx';
import { usePlayback } from './use-playback.ts';

interface StageProps extends Pick<ControlsProps, 'video' | 'isFilled' | 'onFill'> {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  readonly show: ShownShow | null;
  /** Whether the badge has the viewer count. */
  readonly hasCount: boolean;
  /** Whether the playback stats are open at first. */
  readonly hasStats: boolean;
  /** Overlays on the video, in full screen too. */
  readonly children: ReactNode;
}

/** The area with the video: its controls, notices and overlays. */
export function Stage(props: StageProps) {
  const { viewer, snapshot, show, video, hasCount, hasStats, isFilled, onFill, children } = props;
  const { state, hasBegun, picture, isAutoMuted } = usePlayback(viewer, video, snapshot.stream);
  const [showsStats, setShowsStats] = useState(hasStats);
  const status = stageStatus(snapshot, state);
  return (
    <section
      id="stage"
      className={isFilled ? 'stage stage--filled' : 'stage'}
      aria-label={texts.stage.label}
    >
      <Controls
        video={video}
        isShown={hasBegun || state === 'press-play'}
        isLive={snapshot.stream?.status !== 'ENDED' && status !== 'over'}
        isFilled={isFilled}
        onFill={onFill}
      />
      <Notice status={status} show={show} clock={viewer.clock}>
        <NoticeButton status={status} video={video} />
      </Notice>
      <StatusBadge snapshot={snapshot} status={status} hasCount={hasCount} />
      {isAutoMuted && state === 'playing' && (
        <button type="button" className="action stage-sound" onClick={() => unmute(video)}>
          {texts.stage.turnOnSound}
        </button>
      )}
      {showsStats && (
        <PlaybackStats
          viewer={viewer}
          video={video}
          picture={picture}
          onClose={() => setShowsStats(false)}
        />
      )}
      {children}
    </section>
  );
}

function NoticeButton({ status, video }: { status: StageStatus; video: StageVideo }) {
  const button = BUTTONS[status];
  if (!button) return null;
  return (
    <button key={status} type="button" className="action" onClick={() => button.onPress(video)}>
      {button.label}
    </button>
  );
}

const BUTTONS: Partial<
  Record<StageStatus, { readonly label: string; onPress(video: StageVideo): void }>
> = {
  over: { label: texts.stage.watchAgain, onPress: playFromStart },
  'not-loaded': { label: texts.stage.reload, onPress: () => location.reload() },
  'press-play': { label: texts.stage.play, onPress: play },
};

/** The button disappears, so the focus moves to the mute button of the controls. */
function unmute(video: StageVideo): void {
  video.muted = false;
  if (video.volume === 0) video.volume = 1;
  video.parentElement?.querySelector<HTMLElement>('media-mute-button')?.focus();
}

/** Plays; ignores a refusal (a phone that saves power) and an interruption by another load. */
function play(video: StageVideo): void {
  video.play().catch(() => {});
}

function playFromStart(video: StageVideo): void {
  video.currentTime = video.seekable.length > 0 ? video.seekable.start(0) : 0;
  play(video);
  video.parentElement?.querySelector<HTMLElement>('media-play-button')?.focus();
}

import { type ReactNode, useCallback } from 'react';
import type { ShownShow } from '../../protocol/show-page.ts';
import { LobbyCountdown } from '../show/lobby-countdown.tsx';
import { STATUS_TEXT, type StageStatus } from './stage-status.ts';

/** The poster stands in for the video while there is none. */
const WITH_POSTER: ReadonlySet<StageStatus> = new Set([
  'joining',
  'lobby',
  'waiting',
  'loading',
  'no-recording',
]);

interface NoticeProps {
  readonly status: StageStatus;
  readonly show: ShownShow | null;
  /** The clock of the service. */
  readonly clock: { nowMs(): number };
  readonly children?: ReactNode;
}

/** Text in place of the video. Its live region always stays: screen readers announce changes in it. */
export function Notice({ status, show, clock, children }: NoticeProps) {
  const nowMs = useCallback(() => clock.nowMs(), [clock]);
  const text = STATUS_TEXT[status];
  const isOverVideo = status === 'stalled' || status === 'press-play';
  const poster = WITH_POSTER.has(status) ? (show?.poster_url ?? null) : null;
  const startsAt = show?.startsAt ?? null;
  return (
    <div
      className={`notice${isOverVideo ? ' notice--over' : ''}${poster === null ? '' : ' notice--poster'}`}
      data-status={status}
    >
      {poster !== null && <img className="notice-poster" src={poster} alt="" />}
      <div role="status">
        {text && (
          <>
            <p className="notice-title">{text.title}</p>
            {text.more !== '' && <p className="notice-more">{text.more}</p>}
          </>
        )}
      </div>
      {status === 'lobby' && startsAt !== null && (
        <LobbyCountdown startsAt={startsAt} nowMs={nowMs} />
      )}
      {children}
    </div>
  );
}

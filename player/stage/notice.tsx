import type { ReactNode } from 'react';
import { STATUS_TEXT, type StageStatus } from './stage-status.ts';

interface NoticeProps {
  readonly status: StageStatus;
  /** The number of waiting viewers, such as `1.2K`; null: unknown. */
  readonly waiting: string | null;
  readonly children?: ReactNode;
}

/** Text in place of the video. Its live region always stays: screen readers announce changes in it. */
export function Notice({ status, waiting, children }: NoticeProps) {
  const text = STATUS_TEXT[status];
  const isOverVideo = status === 'stalled' || status === 'press-play';
  return (
    <div className={isOverVideo ? 'notice notice--over' : 'notice'} data-status={status}>
      <div role="status">
        {text && (
          <>
            <p className="notice-title">{text.title}</p>
            {text.more !== '' && <p className="notice-more">{text.more}</p>}
          </>
        )}
      </div>
      {status === 'lobby' && waiting !== null && (
        <p className="notice-waiting">
          <strong>{waiting}</strong> waiting
        </p>
      )}
      {children}
    </div>
  );
}

import type { ReactNode } from 'react';
import { type Situation, WORDS } from './situation.ts';

interface NoticeProps {
  readonly situation: Situation;
  /** How many wait, such as `1.2K`; null: not known. */
  readonly waiting: string | null;
  /** What can be done about it. */
  readonly children?: ReactNode;
}

/**
 * Words where there is no picture. The place is always there, so that what is said in it is read out.
 */
export function Notice({ situation, waiting, children }: NoticeProps) {
  const words = WORDS[situation];
  const isOnPicture = situation === 'stalled' || situation === 'press-play';
  return (
    <div className={isOnPicture ? 'notice notice--over' : 'notice'} data-situation={situation}>
      <div role="status">
        {words && (
          <>
            <p className="notice-title">{words.title}</p>
            {words.more !== '' && <p className="notice-more">{words.more}</p>}
          </>
        )}
      </div>
      {situation === 'lobby' && waiting !== null && (
        <p className="notice-waiting">
          <strong>{waiting}</strong> waiting
        </p>
      )}
      {children}
    </div>
  );
}

import { useEffect, useState } from 'react';
import { texts } from '../texts.ts';
import { countdownText, startText } from './start-time.ts';

interface LobbyCountdownProps {
  /** Announced start, Unix ms. */
  readonly startsAt: number;
  /** The clock of the service, Unix ms. */
  readonly nowMs: () => number;
}

/** The announced start of a show, and the time until then. */
export function LobbyCountdown({ startsAt, nowMs }: LobbyCountdownProps) {
  const now = useSeconds(nowMs);
  const countdown = countdownText(startsAt - now);
  return (
    <div className="lobby-start">
      <p className="lobby-time">
        {countdown === null ? texts.lobby.soon : texts.lobby.starts(startText(startsAt, now))}
      </p>
      {countdown !== null && (
        <p className="lobby-countdown" role="timer" aria-label={texts.lobby.countdown}>
          {countdown}
        </p>
      )}
    </div>
  );
}

/** The time, updated when its second changes. */
function useSeconds(nowMs: () => number): number {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const update = () => {
      setNow(nowMs());
      timer = setTimeout(update, 1_000 - (nowMs() % 1_000));
    };
    update();
    return () => clearTimeout(timer);
  }, [nowMs]);
  return now;
}

import { useEffect, useState } from 'react';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import type { Picture } from '../../sdk/types.ts';
import type { Viewer } from '../../sdk/viewer.ts';

interface PlaybackStatsProps {
  readonly viewer: Viewer;
  readonly video: HTMLVideoElement;
  readonly picture: Picture | null;
  readonly onClose: () => void;
}

// Events of these types come all the time.
const FREQUENT_TYPES = new Set(['view-count', 'chats']);

/** How video and feed are synchronized. The demo's video shows its interval too, for comparison. */
export function PlaybackStats({ viewer, video, picture, onClose }: PlaybackStatsProps) {
  const [feedInterval, setFeedInterval] = useState<number | null>(null);
  const [event, setEvent] = useState<string | null>(null);
  const [, update] = useState(0);

  useEffect(() => viewer.on('interval', ({ interval }) => setFeedInterval(interval)), [viewer]);
  useEffect(
    () =>
      viewer.on('event', ({ interval, type }) => {
        if (!FREQUENT_TYPES.has(type)) setEvent(`${interval} · ${type}`);
      }),
    [viewer],
  );
  useEffect(() => viewer.on('jump', () => setEvent(null)), [viewer]);
  useEffect(() => {
    const timer = setInterval(() => update((count) => count + 1), INTERVAL_MS / 2);
    return () => clearInterval(timer);
  }, []);

  const frameMs = picture?.wallClockMs() ?? null;
  const nowMs = viewer.clock.nowMs();
  return (
    <section className="stats" aria-label="Playback stats">
      <dl>
        <Stat name="Video interval" id="screen">
          {frameMs === null ? null : intervalAt(frameMs)}
        </Stat>
        <Stat name="Feed interval" id="feed">
          {feedInterval}
        </Stat>
        <Stat name="Latest event" id="event">
          {event}
        </Stat>
        <Stat name="Live interval" id="now">
          {intervalAt(nowMs)}
        </Stat>
        <Stat name="Latency" id="behind">
          {frameMs === null ? null : `${((nowMs - frameMs) / 1_000).toFixed(1)} s`}
        </Stat>
        <Stat name="Resolution" id="rendition">
          {video.videoWidth === 0 ? null : `${video.videoWidth} × ${video.videoHeight}`}
        </Stat>
      </dl>
      <button type="button" className="stats-close" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </section>
  );
}

function Stat({
  name,
  id,
  children,
}: {
  readonly name: string;
  readonly id: string;
  readonly children: string | number | null;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd id={`fact-${id}`}>{children ?? '–'}</dd>
    </div>
  );
}

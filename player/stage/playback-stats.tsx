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

// Too frequent to be shown as the latest event.
const FREQUENT_TYPES = new Set(['view-count', 'chats']);

/** How video and feed are synchronized. The demo's video shows the video interval too. */
export function PlaybackStats({ viewer, video, picture, onClose }: PlaybackStatsProps) {
  const [feedInterval, setFeedInterval] = useState<number | null>(null);
  const [event, setEvent] = useState<string | null>(null);
  const [, rerender] = useState(0);

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
    const timer = setInterval(() => rerender((count) => count + 1), INTERVAL_MS / 2);
    return () => clearInterval(timer);
  }, []);

  const frameMs = picture?.wallClockMs() ?? null;
  const nowMs = viewer.clock.nowMs();
  const latency = frameMs && `${((nowMs - frameMs) / 1_000).toFixed(1)} s`;
  const resolution = video.videoWidth === 0 ? null : `${video.videoWidth} × ${video.videoHeight}`;
  return (
    <section className="stats" aria-label="Playback stats">
      <dl>
        <Stat name="Video interval" id="screen" value={frameMs && intervalAt(frameMs)} />
        <Stat name="Feed interval" id="feed" value={feedInterval} />
        <Stat name="Latest event" id="event" value={event} />
        <Stat name="Live interval" id="now" value={intervalAt(nowMs)} />
        <Stat name="Latency" id="behind" value={latency} />
        <Stat name="Resolution" id="rendition" value={resolution} />
      </dl>
      <button type="button" className="stats-close" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </section>
  );
}

function Stat({ name, id, value }: { name: string; id: string; value: string | number | null }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd id={`fact-${id}`}>{value ?? '–'}</dd>
    </div>
  );
}

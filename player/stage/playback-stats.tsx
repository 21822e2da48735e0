import { useEffect, useState } from 'react';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import type { Picture } from '../../sdk/types.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';

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
  const latency = frameMs && texts.stats.seconds(((nowMs - frameMs) / 1_000).toFixed(1));
  const resolution = video.videoWidth === 0 ? null : `${video.videoWidth} × ${video.videoHeight}`;
  return (
    <section className="stats" aria-label={texts.stats.label}>
      <dl>
        <Stat name={texts.stats.videoInterval} id="screen" value={frameMs && intervalAt(frameMs)} />
        <Stat name={texts.stats.feedInterval} id="feed" value={feedInterval} />
        <Stat name={texts.stats.latestEvent} id="event" value={event} />
        <Stat name={texts.stats.liveInterval} id="now" value={intervalAt(nowMs)} />
        <Stat name={texts.stats.latency} id="behind" value={latency} />
        <Stat name={texts.stats.resolution} id="rendition" value={resolution} />
      </dl>
      <button
        type="button"
        className="stats-close"
        aria-label={texts.stats.close}
        onClick={onClose}
      >
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

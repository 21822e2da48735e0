import { useEffect, useState } from 'react';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import type { Picture } from '../../sdk/types.ts';
import type { Viewer } from '../../sdk/viewer.ts';

interface FactsProps {
  readonly viewer: Viewer;
  readonly video: HTMLVideoElement;
  readonly picture: Picture | null;
  readonly onClose: () => void;
}

// What happens all the time says nothing.
const FREQUENT = new Set(['view-count', 'chats']);

/** How picture and feed agree. In the demo the number on screen is in the picture too. */
export function Facts({ viewer, video, picture, onClose }: FactsProps) {
  const [told, setTold] = useState<number | null>(null);
  const [event, setEvent] = useState<string | null>(null);
  const [, look] = useState(0);

  useEffect(() => viewer.on('interval', ({ interval }) => setTold(interval)), [viewer]);
  useEffect(
    () =>
      viewer.on('event', ({ interval, type }) => {
        if (!FREQUENT.has(type)) setEvent(`${interval} · ${type}`);
      }),
    [viewer],
  );
  useEffect(() => viewer.on('jump', () => setEvent(null)), [viewer]);
  useEffect(() => {
    const timer = setInterval(() => look((times) => times + 1), INTERVAL_MS / 2);
    return () => clearInterval(timer);
  }, []);

  const wallMs = picture?.wallClockMs() ?? null;
  const nowMs = viewer.clock.nowMs();
  return (
    <section className="facts" aria-label="Picture and feed">
      <dl>
        <Fact name="Frame on screen" id="screen">
          {wallMs === null ? null : intervalAt(wallMs)}
        </Fact>
        <Fact name="Feed on screen" id="feed">
          {told}
        </Fact>
        <Fact name="Newest event" id="event">
          {event}
        </Fact>
        <Fact name="Now" id="now">
          {intervalAt(nowMs)}
        </Fact>
        <Fact name="Behind now" id="behind">
          {wallMs === null ? null : `${((nowMs - wallMs) / 1_000).toFixed(1)} s`}
        </Fact>
        <Fact name="Rendition" id="rendition">
          {video.videoWidth === 0 ? null : `${video.videoWidth} × ${video.videoHeight}`}
        </Fact>
      </dl>
      <button type="button" className="facts-close" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </section>
  );
}

function Fact({
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

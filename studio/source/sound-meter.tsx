import { type RefObject, useEffect, useState } from 'react';
import { texts } from './texts.ts';

const UPDATE_MS = 100;
/** The quietest level that the meter shows, dBFS. */
const FLOOR_DB = -60;

/** An element whose sound can be captured; Safari cannot. */
type Capturable = HTMLVideoElement & { readonly captureStream?: () => MediaStream };

/** The sound level of a video, also of a muted one. Shows nothing in browsers that cannot measure it. */
export function SoundMeter({ video }: { readonly video: RefObject<HTMLVideoElement | null> }) {
  const [levelDb, setLevelDb] = useState<number | null>(null);
  useEffect(() => {
    const element = video.current as Capturable | null;
    if (!element?.captureStream) return;
    let stop = () => {};
    const start = () => {
      stop();
      stop = measure(element, setLevelDb);
    };
    element.addEventListener('playing', start);
    return () => {
      element.removeEventListener('playing', start);
      stop();
    };
  }, [video]);
  if (levelDb === null) return null;
  const isSilent = levelDb <= FLOOR_DB;
  return (
    <div className="flex items-center gap-3">
      <span className="text-sm font-semibold">{texts.preview.sound}</span>
      <meter
        aria-label={texts.preview.soundLevel}
        min={FLOOR_DB}
        max={0}
        value={levelDb}
        className="h-4 min-w-0 flex-1"
      />
      <span className={isSilent ? 'w-16 text-sm text-bad' : 'w-16 text-sm text-quiet tabular-nums'}>
        {isSilent ? texts.preview.silent : texts.preview.decibels(Math.round(levelDb))}
      </span>
    </div>
  );
}

/** @param onLevel called with the level in dBFS. @returns stops measuring */
function measure(element: Capturable, onLevel: (levelDb: number | null) => void): () => void {
  const stream = element.captureStream?.();
  if (!stream || stream.getAudioTracks().length === 0) {
    onLevel(null);
    return () => {};
  }
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    // Browsers start a context only after a click on the page.
    if (context.state !== 'running') return;
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    onLevel(Math.max(FLOOR_DB, 10 * Math.log10(power)));
  }, UPDATE_MS);
  return () => {
    clearInterval(timer);
    void context.close();
    for (const track of stream.getTracks()) track.stop();
  };
}

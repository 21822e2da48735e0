import type { VideoState } from './show.ts';

export function videoText(video: VideoState): string {
  if (video.state === 'starting') return 'starting';
  if (video.state === 'failed') return `unavailable: ${video.reason}`;
  const seconds = (video.ageMs / 1_000).toFixed(1);
  return `live · newest segment ${seconds} s ago · ${video.sizes.join(', ')}`;
}

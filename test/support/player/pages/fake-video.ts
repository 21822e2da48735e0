import type { StageVideo } from '../../../../player/stage/stage-video.ts';

/** What tests need of a `<video>`; nothing happens in it by itself. */
export class FakeVideo extends EventTarget {
  muted = false;
  currentTime = 0;
  readyState = 0;
  src = '';
  /** How often it was loaded again. */
  loads = 0;

  async play() {}

  load() {
    this.loads += 1;
    this.currentTime = 0;
  }

  removeAttribute() {}

  /** Says that something happened. */
  tell(type: string): void {
    this.dispatchEvent(new Event(type));
  }
}

/** @returns the same, as the stage takes it */
export function asStageVideo(video: FakeVideo): StageVideo {
  return video as unknown as StageVideo;
}

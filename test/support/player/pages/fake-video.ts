import type { StageVideo } from '../../../../player/stage/stage-video.ts';

/** A fake `<video>` that dispatches events only by `emit`. */
export class FakeVideo extends EventTarget {
  muted = false;
  currentTime = 0;
  readyState = 0;
  duration = Number.POSITIVE_INFINITY;
  src = '';
  /** The number of `load` calls. */
  loads = 0;

  async play() {}

  pause() {}

  load() {
    this.loads += 1;
    this.currentTime = 0;
  }

  removeAttribute() {}

  emit(type: string): void {
    this.dispatchEvent(new Event(type));
  }
}

/** @returns the same object with the type that the stage needs */
export function asStageVideo(video: FakeVideo): StageVideo {
  return video as unknown as StageVideo;
}

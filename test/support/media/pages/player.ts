import Hls from 'hls.js';
import shaka from 'shaka-player';
import type { FrameSample, PlayerApi, PlayerKind } from '../player-api.ts';
import { type PictureReading, readPicture } from '../read-test-picture.ts';

// Runs in a browser: plays a stream with a real player and, for each frame on screen, samples the
// player's wall clock and the time code of the test picture.

interface PlayerUnderTest {
  wallClockMs(): number | null;
  stop(): Promise<void> | void;
}

const state: { player: PlayerUnderTest | null; samples: FrameSample[]; errors: string[] } = {
  player: null,
  samples: [],
  errors: [],
};

/** Starts a player. @param atS start position, s; null for the player's default */
type Play = (video: HTMLVideoElement, url: string, atS: number | null) => PlayerUnderTest;

const players: Record<PlayerKind, Play> = {
  hls(video, url, atS) {
    const hls = new Hls({ startPosition: atS ?? -1 });
    hls.on(Hls.Events.ERROR, (_, { fatal, details }) => {
      if (fatal) state.errors.push(details);
    });
    hls.loadSource(url);
    hls.attachMedia(video);
    return {
      wallClockMs: () => hls.playingDate?.getTime() ?? null,
      stop: () => hls.destroy(),
    };
  },
  shaka(video, url, atS) {
    shaka.polyfill.installAll();
    const player = new shaka.Player();
    // Shaka follows the manifest's target latency only when the application enables it.
    player.configure('streaming.liveSync.enabled', true);
    player.addEventListener('error', (event) => {
      state.errors.push(JSON.stringify((event as unknown as { detail: unknown }).detail));
    });
    void player
      .attach(video)
      .then(() => player.load(url, atS))
      .catch((error: unknown) => state.errors.push(JSON.stringify(error)));
    return {
      wallClockMs: () => player.getPlayheadTimeAsDate()?.getTime() ?? null,
      stop: () => player.destroy(),
    };
  },
};

const api: PlayerApi = {
  play(kind, url, atS) {
    const video = document.querySelector('video') as HTMLVideoElement;
    state.samples = [];
    state.errors = [];
    state.player = players[kind](video, url, atS);
    watchFrames(video, state.player);
  },
  samples: () => state.samples,
  forget(): void {
    state.samples = [];
  },
  errors: () => state.errors,
  position: () => {
    const video = document.querySelector('video') as HTMLVideoElement;
    const { currentTime, paused, readyState, buffered } = video;
    const ranges = Array.from({ length: buffered.length }, (_, i) => [
      buffered.start(i),
      buffered.end(i),
    ]);
    const wallClockMs = state.player?.wallClockMs() ?? null;
    return { width: video.videoWidth, currentTime, wallClockMs, paused, readyState, ranges };
  },
  async stop(): Promise<void> {
    await state.player?.stop();
    state.player = null;
  },
};

function watchFrames(video: HTMLVideoElement, player: PlayerUnderTest): void {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const sampleFrame = (_: number, { mediaTime }: VideoFrameCallbackMetadata) => {
    if (state.player !== player || !context) return;
    const readMs = player.wallClockMs();
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    context.drawImage(video, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const picture: PictureReading | null = readPicture({
      width: canvas.width,
      height: canvas.height,
      data,
      format: 'rgba',
    });
    if (picture && readMs !== null) {
      // The player reports the playhead; correct for the distance of this frame.
      const playerMs = readMs + (mediaTime - video.currentTime) * 1_000;
      const { videoWidth: width } = video;
      state.samples.push({ playerMs, pictureMs: picture.unixMs, nowMs: Date.now(), width });
    }
    video.requestVideoFrameCallback(sampleFrame);
  };
  video.requestVideoFrameCallback(sampleFrame);
}

Object.assign(globalThis, { api });

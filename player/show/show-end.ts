import { REOPEN_MS } from '../../protocol/limits.ts';
import type { Stream } from '../../sdk/types.ts';

/** Mean time between two checks after the end of the video; the service says within seconds that the stream has ended. */
export const END_CHECK_MS = 1_500;
export const END_CHECKS_MAX = 8;
/** Mean time between two checks whether an ended stream was reopened, as the SDK polls a live one. */
const REOPEN_CHECK_MS = 15_000;

type Status = Stream['status'];

export interface VideoEndListener {
  onEnded(): void;
  /** The stream is live all the same. One with video of its own was reopened: its video has another address. */
  onLive(): void;
}

/**
 * Checks the stream when its video ends. The SDK asks every 15 s only, and until then the page would
 * offer what is live.
 * @returns a function that stops it
 */
export function watchVideoEnd(
  video: EventTarget,
  readStatus: () => Promise<Status | null>,
  { onEnded, onLive }: VideoEndListener,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const check = async (checks: number) => {
    const status = await readStatus();
    if (isStopped) return;
    if (status === 'ENDED') onEnded();
    else if (checks > 1) {
      // At random times: the video ends at the same time for all viewers of a show.
      timer = setTimeout(check, END_CHECK_MS * (0.5 + Math.random()), checks - 1);
    } else if (status === 'STREAMING') onLive();
  };
  const onVideoEnd = () => {
    clearTimeout(timer);
    void check(END_CHECKS_MAX);
  };
  video.addEventListener('ended', onVideoEnd);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    video.removeEventListener('ended', onVideoEnd);
  };
}

/**
 * Checks an ended stream as long as it can be reopened.
 * @returns a function that stops it
 */
export function watchReopening(
  readStatus: () => Promise<Status | null>,
  onReopened: () => void,
): () => void {
  const untilMs = performance.now() + REOPEN_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const schedule = () => {
    if (isStopped || performance.now() >= untilMs) return;
    // At random times, so that the viewers of a show do not ask together.
    timer = setTimeout(check, REOPEN_CHECK_MS * (0.75 + Math.random() / 2));
  };
  const check = async () => {
    const status = await readStatus();
    if (isStopped) return;
    if (status === null || status === 'ENDED') schedule();
    else onReopened();
  };
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

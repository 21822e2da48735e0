import type { EventsInterval } from '../protocol/feed.ts';
import type { Stream } from '../protocol/streams.ts';
import { followFeed } from './feed.ts';
import { type Picture, playPicture } from './picture.ts';

// Shows a stream's picture beside its feed, so that anybody sees how well the two agree.

const INTERVAL_MS = 250;
const STATUS_MS = 2_000;
const EVENTS_SHOWN = 6;
// What waits for its frame: players are seconds behind, not minutes.
const WAITING_MAX = 600;

const streamId = location.pathname.split('/').filter(Boolean).at(-1) ?? '';
const video = part('video') as HTMLVideoElement;
let picture: Picture | null = null;
let offsetMs = 0;
let newest: number | null = null;
let waiting: EventsInterval[] = [];
let isPlaying = false;

void followFeed(streamId, {
  onClock: (ms) => {
    offsetMs = ms;
  },
  onInterval: (interval) => {
    newest = interval.interval;
    waiting = [...waiting, interval].slice(-WAITING_MAX);
  },
});
void lookAtStream();
setInterval(show, INTERVAL_MS / 2);

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

function say(id: string, text: string): void {
  const element = part(id);
  if (element.textContent !== text) element.textContent = text;
}

/** Looks at the stream until it can be played, and after that for its end. */
async function lookAtStream(): Promise<void> {
  try {
    const response = await fetch(`/api/v1/streams/${encodeURIComponent(streamId)}/`);
    if (response.status === 404) {
      say('notice', 'There is no such stream.');
      return;
    }
    if (!response.ok) throw new Error(`the service answers ${response.status}`);
    showStatus((await response.json()) as Stream);
  } catch {
    if (!isPlaying) say('notice', 'The service cannot be reached. Trying again …');
  }
  setTimeout(lookAtStream, STATUS_MS);
}

function showStatus({ status, hls_url }: Stream): void {
  const names = { CREATED: 'Not started', STREAMING: 'Live', ENDED: 'Ended' };
  say('status', names[status]);
  part('status').classList.toggle('live', status === 'STREAMING');
  if (status === 'CREATED') say('notice', 'The show has not begun.');
  if (status === 'CREATED' || picture) return;
  say('notice', 'Waiting for the picture …');
  picture = playPicture(video, hls_url, {
    onPlaying: () => {
      isPlaying = true;
      say('notice', '');
    },
    onTrouble: (reason) => {
      isPlaying = false;
      say('notice', reason);
    },
  });
}

function show(): void {
  const wallMs = isPlaying ? (picture?.wallClockMs() ?? null) : null;
  say('feed', newest === null ? '–' : String(newest));
  say('rendition', picture?.rendition() ?? '–');
  if (wallMs === null) return;
  const onScreen = Math.floor(wallMs / INTERVAL_MS);
  say('screen', String(onScreen));
  say('behind', `${((Date.now() + offsetMs - wallMs) / 1_000).toFixed(1)} s`);
  const due = waiting.filter(({ interval }) => interval <= onScreen);
  waiting = waiting.filter(({ interval }) => interval > onScreen);
  for (const interval of due) showEvents(interval);
}

function showEvents({ interval, events }: EventsInterval): void {
  for (const { type, data } of events) {
    if (type === 'view-count') {
      say('count', (data as { formatted: string }).formatted);
    } else if (type !== 'chats') {
      const list = part('events');
      list.querySelector('.empty')?.remove();
      const item = document.createElement('li');
      const question = (data as { question?: string } | null)?.question;
      item.textContent = `${interval} · ${type}${question ? `: ${question}` : ''}`;
      list.prepend(item);
      while (list.children.length > EVENTS_SHOWN) list.lastElementChild?.remove();
    }
  }
}

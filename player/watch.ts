import type { EventsInterval } from '../protocol/feed.ts';
import type { Stream } from '../protocol/streams.ts';
import { followFeed } from './feed.ts';
import { type Picture, playPicture, type Trouble } from './picture.ts';
import { Replay } from './replay.ts';
import { Viewer } from './viewer.ts';

// Shows a stream's picture beside its feed, so that anybody sees how well the two agree.

const INTERVAL_MS = 250;
const STATUS_MS = 2_000;
const EVENTS_SHOWN = 6;
// What waits for its frame: players are seconds behind, not minutes.
const WAITING_MAX = 600;

const STATUS_NAMES = { CREATED: 'Not started', STREAMING: 'Live', ENDED: 'Ended' };
const NOTICES: Record<Trouble, string> = {
  absent: 'Waiting for the picture …',
  interrupted: 'Waiting for the picture …',
  'press-play': 'Press play to watch.',
  over: 'The show is over.',
};

const streamId = location.pathname.split('/').filter(Boolean).at(-1) ?? '';
const viewer = new Viewer(streamId);
const video = part('video') as HTMLVideoElement;
const soundButton = part('sound');
let status: Stream['status'] | null = null;
let picture: Picture | null = null;
let replay: Replay | null = null;
let offsetMs = 0;
let newest: number | null = null;
let waiting: EventsInterval[] = [];
let isPlaying = false;

soundButton.addEventListener('click', () => {
  video.muted = false;
  video.focus();
});
video.addEventListener('volumechange', showSound);
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
      say('status', 'Unknown');
      say('notice', 'There is no such stream. Look at the address again.');
      part('audience').hidden = true;
      return;
    }
    if (!response.ok) throw new Error(`the service answers ${response.status}`);
    showStream((await response.json()) as Stream);
  } catch {
    if (!isPlaying) say('notice', 'The service cannot be reached. Trying again …');
  }
  if (status !== 'ENDED') setTimeout(lookAtStream, STATUS_MS);
}

function showStream(stream: Stream): void {
  const before = status;
  status = stream.status;
  say('status', STATUS_NAMES[status]);
  part('status').classList.toggle('live', status === 'STREAMING');
  if (before === null) followOrReplay(status === 'ENDED');
  if (status === 'CREATED') say('notice', 'The show has not begun.');
  else if (!picture) startPicture(stream.hls_url);
  else if (before !== 'ENDED' && status === 'ENDED' && !isPlaying) showTrouble('over');
}

/** What happens is shown when it is on screen: as it comes, or as it was. */
function followOrReplay(isOver: boolean): void {
  if (isOver) {
    replay = new Replay(viewer, showEvents, forgetEvents);
    say('feed-name', 'In the feed');
    part('audience').hidden = true;
    return;
  }
  void followFeed(viewer, {
    onClock: (ms) => {
      offsetMs = ms;
    },
    onInterval: (interval) => {
      newest = interval.interval;
      waiting = [...waiting, interval].slice(-WAITING_MAX);
    },
  });
}

function startPicture(url: string): void {
  say('notice', NOTICES.absent);
  picture = playPicture(video, url, {
    onPlaying: () => {
      isPlaying = true;
      video.controls = true;
      say('notice', '');
      showSound();
    },
    onTrouble: showTrouble,
    mayCome: () => status !== 'ENDED',
  });
}

function showTrouble(trouble: Trouble): void {
  isPlaying = false;
  if (trouble === 'press-play') video.controls = true;
  const isGone = trouble === 'absent' && status === 'ENDED';
  say('notice', isGone ? 'The show is over. There is no recording of it.' : NOTICES[trouble]);
}

/** Browsers begin without sound; one press turns it on. */
function showSound(): void {
  soundButton.hidden = !(isPlaying && video.muted);
}

function show(): void {
  const wallMs = isPlaying ? (picture?.wallClockMs() ?? null) : null;
  if (!replay) say('feed', newest === null ? '–' : String(newest));
  say('rendition', picture?.rendition() ?? '–');
  // Before there is a picture all is on time.
  if (status === 'CREATED') showUntil(Number.POSITIVE_INFINITY);
  if (wallMs === null) return;
  const onScreen = Math.floor(wallMs / INTERVAL_MS);
  say('screen', String(onScreen));
  if (replay) {
    say('behind', 'recorded');
    void replay.show(onScreen);
    return;
  }
  say('behind', `${((Date.now() + offsetMs - wallMs) / 1_000).toFixed(1)} s`);
  showUntil(onScreen);
}

function showUntil(last: number): void {
  const due = waiting.filter(({ interval }) => interval <= last);
  waiting = waiting.filter(({ interval }) => interval > last);
  for (const interval of due) showEvents(interval);
}

function showEvents({ interval, events }: EventsInterval): void {
  if (replay) say('feed', String(interval));
  for (const { type, data } of events) {
    if (type === 'view-count') say('count', (data as { formatted: string }).formatted);
    else if (type !== 'chats') showEvent(interval, type, data);
  }
}

function showEvent(interval: number, type: string, data: unknown): void {
  const list = part('events');
  list.querySelector('.empty')?.remove();
  const item = document.createElement('li');
  const question = (data as { question?: string } | null)?.question;
  item.textContent = `${interval} · ${type}${question ? `: ${question}` : ''}`;
  list.prepend(item);
  while (list.children.length > EVENTS_SHOWN) list.lastElementChild?.remove();
}

function forgetEvents(): void {
  part('events').replaceChildren();
}

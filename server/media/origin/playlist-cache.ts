import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Unavailable } from '../../platform/errors.ts';
import { Pace } from '../../platform/pace.ts';
import { runInSlices, runSlice, type Sliced } from '../../platform/slices.ts';
import type { Rendering } from '../playlist/rendering.ts';
import type { PlayableStream, Presentation } from '../segment.ts';
import { WorkQueue } from '../work-queue.ts';

export interface RenderedPlaylist {
  readonly version: Version;
  /** Of the presentation that it lists, as is `reopenedMs`. */
  readonly isEnded: boolean;
  readonly reopenedMs: number | null;
  readonly plain: Uint8Array;
  /** Hash of the text. Weak, because the compressed body has it too. */
  readonly etag: string;
  /** Compressed on first use; a promise while that runs. */
  gzipped: Uint8Array | Promise<Uint8Array> | null;
}

/** Two playlists of one name with the same version list the same. */
type Version = number | string;

/** Null: there is no such playlist. */
type Result = RenderedPlaylist | null;

/** Starts to render a playlist. */
export type Render = (presentation: Presentation) => Rendering | null;

interface RenderingState {
  /** The version that it lists; null: it has not begun, and will list the newest one. */
  version: Version | null;
}

/** A rendering that has not ended. */
interface RunningRendering extends RenderingState {
  readonly result: Promise<Result>;
  /** Lets it take the turns of this network, too; null: of a live stream. */
  readonly join: ((network: string) => void) | null;
  /** The result for requests that need a newer version. */
  next: Promise<Result> | null;
}

interface StreamPlaylists {
  /** The most recently rendered is the last one. */
  readonly rendered: Map<string, RenderedPlaylist>;
  readonly running: Map<string, RunningRendering>;
}

// More than a stream has: about six tracks, each with a live playlist and one of the recording, of this session and
// the one before, each with a delta update. Of a recording of 10 h they are 3.4 MB each.
const PLAYLISTS_PER_STREAM_MAX = 128;

// A playlist of two hours is 700 KB and changes each second: speed matters more than the last tenth
// of its size.
const compress = promisify(gzip) as (
  bytes: Uint8Array,
  options: { level: number },
) => Promise<Uint8Array>;
const GZIP_LEVEL = 4;

// As many as there are open channels of ended streams: streams whose playlists wait stay in memory.
const ENDED_STREAMS_MAX = 32;
/** When half of them wait, of one network only this many. */
const ENDED_STREAMS_OF_NETWORK_MAX = 8;

/** For this long after a reopening, segments of the session before it may still be added or become gaps. */
const LATE_SEGMENTS_MS = 30_000;

const encoder = new TextEncoder();

/** Renders playlists in slices, one after the other. */
class RenderQueue {
  private readonly queue = new WorkQueue();
  private readonly pace = new Pace();

  get isIdle(): boolean {
    return this.queue.isIdle;
  }

  /** @param segments that the playlist lists at most */
  add(group: string, segments: number, rendering: Sliced<Result>): Promise<Result> {
    return this.queue.add(group, rendering, segments, () => runInSlices(rendering, this.pace.step));
  }

  join(network: string, rendering: Sliced<Result>): void {
    this.queue.join(network, rendering);
  }
}

/** A request for a playlist. */
export interface PlaylistRequest {
  /** Whether it lists the session before the stream was reopened. */
  readonly isOfEarlierSession?: boolean;
  /** Whether it lists no old segments: it takes 0.04 ms at most, also of a long recording. */
  readonly isDeltaUpdate?: boolean;
  /** The network of the client: those whose playlists of ended streams must be rendered take turns. */
  readonly network?: () => string;
}

/** Rendered playlists: each is rendered once and shared until its stream changes. */
export class PlaylistCache {
  private readonly playlists = new WeakMap<PlayableStream, StreamPlaylists>();
  private readonly endedQueue = new RenderQueue();
  /** Of streams that have not ended: their playlists do not wait for those of an archive. Accounts take turns. */
  private readonly openQueue = new RenderQueue();
  /** Ended streams whose playlists are being rendered, with the network that requested the first. */
  private readonly endedStreams = new Map<PlayableStream, string>();

  /**
   * Returns the cached playlist, or renders it, of a version that is not older than the call.
   * @param key identifies the playlist within the stream
   * @returns null when `render` returns null
   * @throws Unavailable when those of too many ended streams are being rendered
   */
  get(
    stream: PlayableStream,
    key: string,
    render: Render,
    request: PlaylistRequest = {},
  ): Result | Promise<Result> {
    const { isOfEarlierSession = false } = request;
    const version = versionOf(stream.presentation(), isOfEarlierSession);
    const own = this.playlists.get(stream) ?? { rendered: new Map(), running: new Map() };
    this.playlists.set(stream, own);
    const cached = own.rendered.get(key);
    if (cached?.version === version) return cached;
    const running = own.running.get(key);
    if (!running) return this.start(stream, own, key, render, request);
    if (running.version === null) running.join?.(request.network?.() ?? '');
    if (running.version === null || running.version === version) return running.result;
    const renderNext = () => this.get(stream, key, render, request);
    running.next ??= running.result.then(renderNext, renderNext);
    return running.next;
  }

  private start(
    stream: PlayableStream,
    own: StreamPlaylists,
    key: string,
    render: Render,
    { isOfEarlierSession = false, isDeltaUpdate = false, network = () => '' }: PlaylistRequest,
  ): Result | Promise<Result> {
    const { isEnded: hasStreamEnded, segments } = stream.presentation();
    const isEnded = hasStreamEnded || isOfEarlierSession;
    if (hasStreamEnded) this.admitEnded(stream, network());
    const state: RenderingState = { version: null };
    const rendering = renderPlaylist(stream, own.rendered, key, render, state, isOfEarlierSession);
    // Full playlists of five low-latency shows take all of the queue: delta updates do not wait for them.
    if (!isEnded && (isDeltaUpdate || this.openQueue.isIdle)) {
      const slice = runSlice(rendering);
      if (slice.done) return slice.value;
    }
    const queue = isEnded ? this.endedQueue : this.openQueue;
    const group = isEnded ? network() : stream.account;
    const result = queue.add(group, segments.length, rendering).finally(() => {
      own.running.delete(key);
      if (own.running.size === 0) this.endedStreams.delete(stream);
    });
    const join = isEnded ? (other: string) => queue.join(other, rendering) : null;
    own.running.set(key, Object.assign(state, { result, join, next: null }));
    return result;
  }

  private admitEnded(stream: PlayableStream, network: string): void {
    const { endedStreams } = this;
    if (endedStreams.has(stream)) return;
    const ofNetwork = [...endedStreams.values()].filter((each) => each === network).length;
    const isCrowded = endedStreams.size >= ENDED_STREAMS_MAX / 2;
    if (
      endedStreams.size >= ENDED_STREAMS_MAX ||
      (isCrowded && ofNetwork >= ENDED_STREAMS_OF_NETWORK_MAX)
    ) {
      throw new Unavailable('Too many recordings are requested at the same time.');
    }
    endedStreams.set(stream, network);
  }
}

function* renderPlaylist(
  stream: PlayableStream,
  playlists: Map<string, RenderedPlaylist>,
  key: string,
  render: Render,
  state: RenderingState,
  isOfEarlierSession: boolean,
): Sliced<Result> {
  const presentation = snapshotOf(stream.presentation());
  const { isEnded, reopenedMs } = presentation;
  const version = versionOf(presentation, isOfEarlierSession);
  state.version = version;
  const rendering = render(presentation);
  const pieces = rendering && (yield* rendering);
  if (!pieces) {
    playlists.delete(key);
    return null;
  }
  const plain = yield* encode(pieces);
  const etag = `W/"${Bun.hash.xxHash64(plain).toString(36)}"`;
  const cached = playlists.get(key);
  const contents = cached?.etag === etag ? cached : { plain, etag, gzipped: null };
  const rendered = { ...contents, version, isEnded, reopenedMs };
  playlists.delete(key);
  playlists.set(key, rendered);
  removeStale(playlists, stream.presentation().reopenedMs);
  if (playlists.size > PLAYLISTS_PER_STREAM_MAX) removeOldest(playlists);
  return rendered;
}

/**
 * When no late segments are expected any more, an earlier session only loses segments, from its start: changes of
 * the open session do not concern its playlists.
 */
function versionOf(presentation: Presentation, isOfEarlierSession: boolean): Version {
  const { version, segments, reopenedMs } = presentation;
  const openMs = (segments.at(-1)?.startMs ?? 0) - (reopenedMs ?? 0);
  const isComplete = isOfEarlierSession && openMs > LATE_SEGMENTS_MS;
  return isComplete ? `${reopenedMs} ${segments[0]?.seq}` : version;
}

/** The arrays of a presentation change in place, also between two slices. */
function snapshotOf(presentation: Presentation): Presentation {
  const { epochs, segments, parts } = presentation;
  return {
    ...presentation,
    epochs: epochs.slice(),
    segments: segments.slice(),
    parts: new Map([...parts].map(([seq, list]) => [seq, list.slice()])),
  };
}

function* encode(pieces: readonly string[]): Sliced<Uint8Array> {
  const encoded: Uint8Array[] = [];
  for (const piece of pieces) {
    encoded.push(encoder.encode(piece));
    yield;
  }
  const bytes = new Uint8Array(encoded.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const piece of encoded) {
    bytes.set(piece, offset);
    offset += piece.byteLength;
    yield;
  }
  return bytes;
}

/**
 * Removes what was rendered before the stream was reopened: it would be rendered again, or nobody can request it any
 * more. After 64 reopenings of a recording of 10 h the playlists took 0.9 GB.
 */
function removeStale(playlists: Map<string, RenderedPlaylist>, reopenedMs: number | null): void {
  for (const [key, rendered] of [...playlists])
    if (rendered.reopenedMs !== reopenedMs) playlists.delete(key);
}

function removeOldest(playlists: Map<string, RenderedPlaylist>): void {
  const oldest = [...playlists.keys()][0];
  if (oldest !== undefined) playlists.delete(oldest);
}

/** The gzipped text; compressed once and cached. */
export function gzipped(rendered: RenderedPlaylist): Uint8Array | Promise<Uint8Array> {
  rendered.gzipped ??= compress(rendered.plain, { level: GZIP_LEVEL }).then((bytes) => {
    rendered.gzipped = bytes;
    return bytes;
  });
  return rendered.gzipped;
}

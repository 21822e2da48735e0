import { texts } from './texts.ts';

export type BrowserSourceState =
  | { readonly state: 'connecting' }
  /** @property isSlow the service cannot keep up right now */
  | { readonly state: 'live'; readonly isSlow: boolean }
  | { readonly state: 'reconnecting' }
  /** The service refused; retrying does not help. */
  | { readonly state: 'refused'; readonly reason: string }
  /** Stopped by the user, or because the camera or its recording failed. */
  | { readonly state: 'stopped'; readonly reason: string };

/** The parts of a `WebSocket` that the source uses. */
export interface SourceSocket {
  readonly bufferedAmount: number;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(data: string | Blob): void;
  close(): void;
}

/** The parts of a `MediaRecorder` that the source uses. */
export interface SourceRecorder {
  ondataavailable: ((event: { data: Blob }) => void) | null;
  onstop: (() => void) | null;
  onerror: (() => void) | null;
  start(timesliceMs: number): void;
  stop(): void;
}

export interface RecorderOptions {
  readonly mimeType: string;
  readonly videoBitsPerSecond: number;
  readonly audioBitsPerSecond: number;
  readonly videoKeyFrameIntervalDuration: number;
}

/** The browser functions that the source uses. @typeParam Stream `MediaStream` */
export interface SourceBrowser<Stream> {
  isTypeSupported(type: string): boolean;
  newRecorder(stream: Stream, options: RecorderOptions): SourceRecorder;
  newSocket(url: string): SourceSocket;
  nowMs(): number;
  /** @returns cancels */
  after(ms: number, callback: () => void): () => void;
}

export interface BrowserSourceOptions<Stream> {
  readonly stream: Stream;
  /** `wss://…/media/:stream_id/ingest` */
  readonly url: string;
  readonly key: string;
  readonly onState: (state: BrowserSourceState) => void;
  readonly browser: SourceBrowser<Stream>;
  readonly videoBitsPerSecond?: number;
}

// In order of preference: H.264 often has a hardware encoder; VP8 is cheaper to encode than VP9.
const TYPES = [
  'video/webm;codecs=h264,opus',
  'video/webm;codecs=vp8,opus',
  'video/webm;codecs=vp9,opus',
  'video/webm',
];

const VIDEO_BITS_PER_S = 4_000_000;
const VIDEO_BITS_PER_S_MIN = 400_000;
const AUDIO_BITS_PER_S = 128_000;

const TIMESLICE_MS = 250;
/** Key frame interval: a restarted encoder waits for a key frame. */
const KEY_FRAME_MS = 2_000;
/** The service accepts messages of 4 MB; smaller ones do not delay other data. */
const MESSAGE_BYTES = 256 << 10;

/** From this much buffered video on, the bit rate is reduced. A socket cannot drop its data. */
const BACKLOG_MAX_S = 4;
const BACKLOG_MAX_BYTES_MIN = 256 << 10;

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** After this time live, the backoff of a new disconnection starts again. */
const STABLE_MS = 10_000;
/**
 * The last one repeats until the user stops the source or the service says that the stream has ended: how long it
 * waits for a source depends on its settings and on what failed (SPEC M-7, M-33).
 */
const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000];

// Close codes of the service.
const UNKNOWN_KEY = 4401;
const BUSY = 4409;
const ENDED = 4410;
const NOT_UNDERSTOOD = 4415;

/**
 * Sends the camera and microphone of a page to the service (SPEC M-4). A slow connection gets a new
 * recorder with a lower bit rate: pausing the recorder would delay its clock, and dropping chunks
 * would make the rest unreadable.
 */
export class BrowserSource<Stream> {
  private readonly type: string | undefined;
  private bitsPerSecond: number;
  private socket: SourceSocket | null = null;
  private recorder: SourceRecorder | null = null;
  private state: BrowserSourceState | null = null;
  private cancelTimer = () => {};
  /** Start of the current recorder; null: not live. */
  private liveMs: number | null = null;
  /** Attempts to reconnect since the source was last live for `STABLE_MS`. */
  private attempts = 0;

  constructor(private readonly options: BrowserSourceOptions<Stream>) {
    this.type = TYPES.find((type) => options.browser.isTypeSupported(type));
    this.bitsPerSecond = options.videoBitsPerSecond ?? VIDEO_BITS_PER_S;
  }

  /** Starts the source; only the first call has an effect. */
  start(): void {
    if (this.state) return;
    this.setState({ state: 'connecting' });
    if (this.type === undefined) this.end('refused', texts.camera.unsupported);
    else this.connect();
  }

  /** Stops the source. The tracks of the stream stay the page's. */
  stop(): void {
    this.end('stopped', texts.camera.stopped);
  }

  private connect(): void {
    const { url, browser } = this.options;
    const socket = browser.newSocket(url);
    this.socket = socket;
    this.startTimer(HANDSHAKE_TIMEOUT_MS, () => this.reconnect());
    socket.onopen = () => socket.send(JSON.stringify({ key: this.options.key, type: this.type }));
    socket.onmessage = ({ data }) => this.onServerState(stateIn(data));
    socket.onclose = ({ code, reason }) => this.onClosed(code, reason);
  }

  private onServerState(state: unknown): void {
    if (state === 'live' && !this.recorder) this.record();
    else if (state === 'live' || state === 'slow') {
      this.setState({ state: 'live', isSlow: state === 'slow' });
    }
  }

  /** Starts a recorder: each connection needs the header at the start of a recording. */
  private record(): void {
    const { browser, stream } = this.options;
    this.cancelTimer();
    try {
      const recorder = browser.newRecorder(stream, {
        mimeType: this.type ?? '',
        videoBitsPerSecond: this.bitsPerSecond,
        audioBitsPerSecond: AUDIO_BITS_PER_S,
        videoKeyFrameIntervalDuration: KEY_FRAME_MS,
      });
      this.recorder = recorder;
      recorder.ondataavailable = ({ data }) => this.send(data);
      recorder.onerror = () => this.reconnect();
      recorder.onstop = () => this.end('stopped', texts.camera.disconnected);
      recorder.start(TIMESLICE_MS);
    } catch (error) {
      this.end('stopped', texts.camera.failed((error as Error).message));
      return;
    }
    this.liveMs = browser.nowMs();
    this.setState({ state: 'live', isSlow: false });
  }

  private send(data: Blob): void {
    const { socket } = this;
    if (!socket) return;
    for (let at = 0; at < data.size; at += MESSAGE_BYTES) {
      socket.send(data.slice(at, at + MESSAGE_BYTES));
    }
    const maxBytes = Math.max(BACKLOG_MAX_BYTES_MIN, (this.bitsPerSecond / 8) * BACKLOG_MAX_S);
    if (socket.bufferedAmount <= maxBytes) return;
    this.bitsPerSecond = Math.max(VIDEO_BITS_PER_S_MIN, Math.round(this.bitsPerSecond * 0.6));
    this.reconnect();
  }

  private onClosed(code: number, reason: string): void {
    // A source that was live reconnects first: the reason may be temporary.
    const isFirst = this.attempts === 0;
    const isFinal = [UNKNOWN_KEY, ENDED, NOT_UNDERSTOOD].includes(code);
    if (!this.recorder && (isFinal || (isFirst && code === BUSY))) this.end('refused', reason);
    else this.reconnect();
  }

  private reconnect(): void {
    const { browser } = this.options;
    const wasStable = this.liveMs !== null && browser.nowMs() - this.liveMs >= STABLE_MS;
    if (wasStable) this.attempts = 0;
    this.liveMs = null;
    this.release();
    this.setState({ state: 'reconnecting' });
    const backoffMs = BACKOFF_MS[Math.min(this.attempts++, BACKOFF_MS.length - 1)] ?? 0;
    this.startTimer(backoffMs, () => this.connect());
  }

  /** Releases socket and recorder and ignores their further events. */
  private release(): void {
    this.cancelTimer();
    const { socket, recorder } = this;
    this.socket = null;
    this.recorder = null;
    if (recorder) {
      recorder.ondataavailable = null;
      recorder.onerror = null;
      recorder.onstop = null;
      try {
        recorder.stop();
      } catch {
        // The recorder had stopped already.
      }
    }
    if (socket) {
      socket.onopen = null;
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
    }
  }

  private end(state: 'refused' | 'stopped', reason: string): void {
    if (this.state?.state === 'refused' || this.state?.state === 'stopped') return;
    this.release();
    this.setState({ state, reason });
  }

  private setState(state: BrowserSourceState): void {
    this.state = state;
    this.options.onState(state);
  }

  private startTimer(ms: number, callback: () => void): void {
    this.cancelTimer();
    this.cancelTimer = this.options.browser.after(ms, callback);
  }
}

function stateIn(data: unknown): unknown {
  try {
    return JSON.parse(String(data)).state;
  } catch {
    return null;
  }
}

/** The parts of `globalThis` that `browserOf` uses. */
interface Page<Stream> {
  readonly MediaRecorder: {
    new (stream: Stream, options: RecorderOptions): unknown;
    isTypeSupported(type: string): boolean;
  };
  readonly WebSocket: new (url: string) => unknown;
}

/** The browser functions of this page. @param page its `globalThis` */
export function browserOf<Stream>(page: Page<Stream>): SourceBrowser<Stream> {
  const { MediaRecorder, WebSocket } = page;
  return {
    isTypeSupported: (type) => MediaRecorder.isTypeSupported(type),
    newRecorder: (stream, options) => new MediaRecorder(stream, options) as SourceRecorder,
    newSocket: (url) => new WebSocket(url) as SourceSocket,
    nowMs: () => performance.now(),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  };
}

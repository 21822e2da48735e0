/** What a page shows about its source. */
export type BrowserSourceState =
  | { readonly state: 'connecting' }
  /** @property isSlow the service cannot keep up at the moment */
  | { readonly state: 'live'; readonly isSlow: boolean }
  | { readonly state: 'reconnecting' }
  /** The service said no; trying again does not help. */
  | { readonly state: 'refused'; readonly reason: string }
  /** It was stopped, or given up. */
  | { readonly state: 'stopped'; readonly reason: string };

/** What is used of a `WebSocket`. */
export interface SourceSocket {
  readonly bufferedAmount: number;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(data: string | Blob): void;
  close(): void;
}

/** What is used of a `MediaRecorder`. */
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

/** What the browser has for it. @typeParam Stream `MediaStream` */
export interface SourceBrowser<Stream> {
  isTypeSupported(type: string): boolean;
  newRecorder(stream: Stream, options: RecorderOptions): SourceRecorder;
  newSocket(url: string): SourceSocket;
  nowMs(): number;
  /** @returns what takes it back */
  after(ms: number, then: () => void): () => void;
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

// H.264 is often encoded by hardware, VP8 is cheaper to encode than VP9.
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
/** An encoder that begins anew has to wait for a key frame. */
const KEY_FRAME_MS = 2_000;
/** The service takes 4 MB at once; smaller ones hold up nobody. */
const MESSAGE_BYTES = 256 << 10;

/** How far a line may fall behind. What has been handed to a socket cannot be taken back. */
const BEHIND_S = 4;
const BEHIND_BYTES_MIN = 256 << 10;

const ANSWER_MS = 10_000;
/** As long as the service waits for a source that dropped (SPEC M-7). */
const GIVE_UP_MS = 30_000;
/** One that has been live for so long has all the time again when it drops. */
const STEADY_MS = 10_000;
const BACK_OFF_MS = [250, 500, 1_000, 2_000, 4_000];

const UNKNOWN_KEY = 4401;
const BUSY = 4409;
const ENDED = 4410;
const NOT_UNDERSTOOD = 4415;

/**
 * Sends the camera and microphone of a page to the service (SPEC M-4). A line that is too slow gets
 * a new recorder with fewer bits: a recorder that pauses would leave its clock behind, and pieces
 * that are left out make the rest unreadable.
 */
export class BrowserSource<Stream> {
  private readonly type: string | undefined;
  private bitsPerSecond: number;
  private socket: SourceSocket | null = null;
  private recorder: SourceRecorder | null = null;
  private state: BrowserSourceState | null = null;
  private forgetTimer = () => {};
  /** When the line was lost for which it is connected again; null on the first way. */
  private lostMs: number | null = null;
  private liveMs: number | null = null;
  private tries = 0;

  constructor(private readonly options: BrowserSourceOptions<Stream>) {
    this.type = TYPES.find((type) => options.browser.isTypeSupported(type));
    this.bitsPerSecond = options.videoBitsPerSecond ?? VIDEO_BITS_PER_S;
  }

  /** Begins, once. */
  start(): void {
    if (this.state) return;
    this.tell({ state: 'connecting' });
    if (this.type === undefined) this.end('refused', 'This browser cannot record WebM.');
    else this.connect();
  }

  /** Ends it. The tracks of the stream go on: they are the page's. */
  stop(): void {
    this.end('stopped', 'It was stopped here.');
  }

  private connect(): void {
    const { url, browser } = this.options;
    const socket = browser.newSocket(url);
    this.socket = socket;
    this.timer(ANSWER_MS, () => this.lost());
    socket.onopen = () => {
      socket.send(JSON.stringify({ key: this.options.key, type: this.type }));
    };
    socket.onmessage = ({ data }) => this.answered(stateIn(data));
    socket.onclose = ({ code, reason }) => this.closed(code, reason);
  }

  private answered(state: unknown): void {
    if (state === 'live' && !this.recorder) this.record();
    else if (state === 'live' || state === 'slow') {
      this.tell({ state: 'live', isSlow: state === 'slow' });
    }
  }

  /** A new recorder for each line: what it writes first is needed to read the rest. */
  private record(): void {
    const { browser, stream } = this.options;
    this.forgetTimer();
    try {
      const recorder = browser.newRecorder(stream, {
        mimeType: this.type ?? '',
        videoBitsPerSecond: this.bitsPerSecond,
        audioBitsPerSecond: AUDIO_BITS_PER_S,
        videoKeyFrameIntervalDuration: KEY_FRAME_MS,
      });
      this.recorder = recorder;
      recorder.ondataavailable = ({ data }) => this.send(data);
      recorder.onerror = () => this.lost();
      recorder.onstop = () => this.end('stopped', 'The camera or microphone is gone.');
      recorder.start(TIMESLICE_MS);
    } catch (error) {
      this.end('stopped', `This cannot be recorded: ${(error as Error).message}`);
      return;
    }
    this.liveMs = browser.nowMs();
    this.tell({ state: 'live', isSlow: false });
  }

  private send(data: Blob): void {
    const { socket } = this;
    if (!socket) return;
    for (let at = 0; at < data.size; at += MESSAGE_BYTES) {
      socket.send(data.slice(at, at + MESSAGE_BYTES));
    }
    const behindBytes = Math.max(BEHIND_BYTES_MIN, (this.bitsPerSecond / 8) * BEHIND_S);
    if (socket.bufferedAmount <= behindBytes) return;
    this.bitsPerSecond = Math.max(VIDEO_BITS_PER_S_MIN, Math.round(this.bitsPerSecond * 0.6));
    this.lost();
  }

  private closed(code: number, reason: string): void {
    // What ends a source that was live may pass; whether it does is said when it comes back.
    const isFirst = this.lostMs === null;
    const isFinal = [UNKNOWN_KEY, ENDED, NOT_UNDERSTOOD].includes(code);
    if (!this.recorder && (isFinal || (isFirst && code === BUSY))) this.end('refused', reason);
    else this.lost();
  }

  private lost(): void {
    const { browser } = this.options;
    const nowMs = browser.nowMs();
    const wasSteady = this.liveMs !== null && nowMs - this.liveMs >= STEADY_MS;
    if (this.lostMs === null || wasSteady) {
      this.lostMs = nowMs;
      this.tries = 0;
    }
    this.liveMs = null;
    this.leave();
    if (nowMs - this.lostMs >= GIVE_UP_MS) {
      this.end('stopped', 'The service could not be reached for 30 s.');
      return;
    }
    this.tell({ state: 'reconnecting' });
    const backOffMs = BACK_OFF_MS[Math.min(this.tries++, BACK_OFF_MS.length - 1)] ?? 0;
    this.timer(backOffMs, () => this.connect());
  }

  /** Lets go of socket and recorder, and hears no more of them. */
  private leave(): void {
    this.forgetTimer();
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
        // It had stopped by itself.
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
    this.leave();
    this.tell({ state, reason });
  }

  private tell(state: BrowserSourceState): void {
    this.state = state;
    this.options.onState(state);
  }

  private timer(ms: number, then: () => void): void {
    this.forgetTimer();
    this.forgetTimer = this.options.browser.after(ms, then);
  }
}

function stateIn(data: unknown): unknown {
  try {
    return JSON.parse(String(data)).state;
  } catch {
    return null;
  }
}

/** What a page hands over as its `globalThis`. */
interface Page<Stream> {
  readonly MediaRecorder: {
    new (stream: Stream, options: RecorderOptions): unknown;
    isTypeSupported(type: string): boolean;
  };
  readonly WebSocket: new (url: string) => unknown;
}

/** The browser of this page. @param page its `globalThis` */
export function browserOf<Stream>({
  MediaRecorder,
  WebSocket,
}: Page<Stream>): SourceBrowser<Stream> {
  return {
    isTypeSupported: (type) => MediaRecorder.isTypeSupported(type),
    newRecorder: (stream, options) => new MediaRecorder(stream, options) as SourceRecorder,
    newSocket: (url) => new WebSocket(url) as SourceSocket,
    nowMs: () => performance.now(),
    after: (ms, then) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
  };
}

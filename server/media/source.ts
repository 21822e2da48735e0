/** The protocol of a source; `fourbeat media play`, which sends over WebSocket, is a kind of its own. */
export type SourceKind = 'rtmp' | 'srt' | 'websocket' | 'media-play';

/** The container format of a source, as ffmpeg names it. */
export type Container = 'flv' | 'mpegts' | 'matroska';

/** A sender's request to become the source of a stream. */
export interface SourceRequest {
  /** The stream key, which identifies the stream and authorizes the sender. */
  readonly key: string;
  readonly kind: SourceKind;
  readonly container: Container;
  /** Address of the sender, for the log. */
  readonly address: string;
  /** The intended stream, if the sender names it; the key of another stream is `unknown-key`. */
  readonly streamId?: string;
}

/** Why a source is refused. */
export type RefusalReason =
  /** No stream has this key. */
  | 'unknown-key'
  /** The stream has a live source. */
  | 'busy'
  | 'ended'
  /** The account has its most sources. */
  | 'too-many'
  /** The database is unavailable, or the service cannot encode or is stopping. */
  | 'unavailable';

/** A refused source. The message is for the sender. */
export class SourceRefused extends Error {
  constructor(
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}

/** Why an admitted source ended. */
export type SourceEndReason =
  /** The sender disconnected. */
  | 'left'
  /** The stream has ended. */
  | 'ended'
  /** Another source has taken over the stream. */
  | 'replaced'
  | 'too-slow'
  /** The source cannot be encoded. */
  | 'not-understood'
  | 'stopping';

export interface SourceEnd {
  readonly reason: SourceEndReason;
  /** For the sender and the log. */
  readonly message: string;
}

/** An admitted source; accepts its bytes. */
export interface SourceSession {
  readonly streamId: string;
  /** The account of its stream. */
  readonly producer: string;
  /**
   * Accepts bytes of the source.
   * @returns false to apply back pressure until `drained`; further bytes are accepted up to a limit
   *   that ends the session
   */
  write(bytes: Uint8Array): boolean;
  /** Resolves when the session accepts more bytes, or has ended. */
  drained(): Promise<void>;
  /** Call when the sender has disconnected; later calls have no effect. @param reason for the log */
  end(reason: string): void;
  /** Resolves when the session has ended, whichever side ended it. */
  readonly closed: Promise<SourceEnd>;
}

/** Admits the sources of the listeners. */
export interface Ingest {
  /** @throws SourceRefused */
  open(request: SourceRequest): Promise<SourceSession>;
}

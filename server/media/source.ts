/** How a source reaches the service. */
export type SourceKind = 'rtmp' | 'srt' | 'websocket';

/** What a source's bytes are, as they go into the encoder. */
export type Container = 'flv' | 'mpegts' | 'matroska';

/** A sender that wants to be the source of a stream. */
export interface SourceRequest {
  /** The stream key, which names the stream and is the permission. */
  readonly key: string;
  readonly kind: SourceKind;
  readonly container: Container;
  /** Where it comes from, for the log. */
  readonly address: string;
  /** The stream it is meant for, where the sender says so: a key of another is `unknown-key`. */
  readonly streamId?: string;
}

/** Why a source is not taken. */
export type RefusalReason =
  /** No stream has this key (any more). */
  | 'unknown-key'
  /** The stream has a source that is alive. */
  | 'busy'
  /** The stream has ended. */
  | 'ended'
  /** The database is unavailable, or the service is stopping. */
  | 'unavailable';

/** A source that is not taken; the message is for the person who sends it. */
export class SourceRefused extends Error {
  constructor(
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}

/** Why a source that was taken is over. */
export type SourceEndReason =
  /** Its sender left. */
  | 'left'
  /** The stream has ended. */
  | 'ended'
  /** The stream has another source now. */
  | 'replaced'
  /** The encoder does not keep up with it. */
  | 'too-slow'
  /** No video can be made of it. */
  | 'not-understood'
  /** The service stops. */
  | 'stopping';

export interface SourceEnd {
  readonly reason: SourceEndReason;
  /** For its sender, and for the log. */
  readonly message: string;
}

/** A source that was taken: where its bytes go. */
export interface SourceSession {
  readonly streamId: string;
  /**
   * Takes bytes as they come.
   * @returns false when it wants no more until `drained`; what is written all the same is taken
   *   too, until a bound ends the session
   */
  write(bytes: Uint8Array): boolean;
  /** Fulfilled when it wants more. */
  drained(): Promise<void>;
  /** The sender is gone. Said once; later calls mean nothing. @param reason for the log */
  end(reason: string): void;
  /** Fulfilled when the session is over, whoever ended it. */
  readonly closed: Promise<SourceEnd>;
}

/** Where listeners bring their sources. */
export interface Ingest {
  /** @throws SourceRefused */
  open(offer: SourceRequest): Promise<SourceSession>;
}

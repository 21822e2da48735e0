export interface InitSegment {
  /** `ftyp` and `moov`. */
  readonly bytes: Uint8Array;
  readonly timescale: number;
  /** Codec string (RFC 6381). */
  readonly codec: string;
}

/** A fragment: a `moof` and its `mdat`. */
export interface Fragment {
  readonly bytes: Uint8Array;
  /** Decode time in ticks of source time. */
  readonly startTicks: number;
  /** Sum over its samples. */
  readonly durationTicks: number;
  /** Starts with a key frame; always true for audio. */
  readonly isSync: boolean;
}

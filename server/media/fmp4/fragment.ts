/** What comes first out of an encoder for each track. */
export interface InitSegment {
  /** `ftyp` and `moov`. */
  readonly bytes: Uint8Array;
  readonly timescale: number;
  /** As in RFC 6381. */
  readonly codec: string;
}

/** A `moof` and its `mdat`. */
export interface Fragment {
  readonly bytes: Uint8Array;
  /** Its decode time, in ticks: source time, as the encoder was given it. */
  readonly startTicks: number;
  /** The sum over its samples. */
  readonly durationTicks: number;
  /** Begins with a key frame; always so for sound. */
  readonly isSync: boolean;
}

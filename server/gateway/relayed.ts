/** The client's side of a relayed request: the connection of the front. */
export interface RelayedClient {
  /** Of the client, as the socket has it. */
  readonly address: string;
  /**
   * Bytes of the answer, which are kept in any case.
   * @returns false when the client takes no more for now; then `Relayed.drained` follows
   */
  send(bytes: Uint8Array): boolean;
  /** Stops reading from the client. */
  pause(): void;
  resume(): void;
  /**
   * The answer is complete, and the connection the front's again.
   * @param rest what came after the request; it may be empty
   */
  answered(rest: Uint8Array): void;
  /** The connection must end after what was sent. The relay makes no further call. */
  end(): void;
}

/** What the front calls for a connection that is relayed; nothing happens once that is over. */
export interface Relayed {
  received(bytes: Uint8Array): void;
  /** The client takes more, after a `send` that was false. */
  drained(): void;
  /** The client is gone. */
  closed(): void;
}

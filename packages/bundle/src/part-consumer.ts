/** Takes one payload. `data` gets views of what was pushed, valid only during the call unless the pusher says more. */
export interface PartConsumer {
  data(bytes: Uint8Array): void;
  /** The payload is complete. */
  end(): void;
}

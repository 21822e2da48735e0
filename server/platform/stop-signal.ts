const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Exit status that shells use for Ctrl-C. */
const INTERRUPTED_STATUS = 130;

/** A request to stop a command: a signal arrived, or the reader of its output closed the pipe. */
export interface StopSignal {
  readonly requested: Promise<void>;
  readonly isRequested: () => boolean;
  /** Removes the signal handlers. */
  dispose(): void;
}

/** Listens for SIGINT, SIGTERM and SIGHUP. A second signal ends the process immediately. */
export function listenForStop(): StopSignal {
  const requested = Promise.withResolvers<void>();
  let isRequested = false;
  const request = () => {
    isRequested = true;
    requested.resolve();
  };
  const onSignal = () => {
    if (isRequested) process.exit(INTERRUPTED_STATUS);
    request();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // The reader closed the pipe. Later writes fail too, so `dispose` keeps this handler.
  process.stdout.on('error', request);
  return {
    requested: requested.promise,
    isRequested: () => isRequested,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

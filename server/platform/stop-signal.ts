/** Exit status that shells use for Ctrl-C. */
const INTERRUPTED_STATUS = 130;

/** A request to stop a command: a signal arrived, or the reader of its output closed the pipe. */
export interface StopSignal {
  readonly requested: Promise<void>;
  readonly isRequested: () => boolean;
  /** Removes the signal handlers. */
  dispose(): void;
}

/**
 * The signals that stop a command in order. A handler for SIGHUP would undo `nohup`, which ignores the signal;
 * no runtime says whether a signal was ignored. `nohup` redirects both outputs from a terminal, so a process that
 * still has one runs without it, and SIGHUP means that the terminal was closed.
 * @param isTerminal whether standard output or standard error is a terminal
 */
export function stopSignals(
  isTerminal = process.stdout.isTTY === true || process.stderr.isTTY === true,
): NodeJS.Signals[] {
  return isTerminal ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];
}

/** Listens for `stopSignals`. A second signal ends the process immediately. */
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
  const signals = stopSignals();
  for (const signal of signals) process.on(signal, onSignal);
  // The reader closed the pipe. Later writes fail too, so `dispose` keeps this handler.
  process.stdout.on('error', request);
  return {
    requested: requested.promise,
    isRequested: () => isRequested,
    dispose: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

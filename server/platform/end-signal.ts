const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
// As shells say it for Ctrl-C.
const AT_ONCE_STATUS = 130;

/** When the demo is to end: somebody said so, or nobody can read it any more. */
export interface Ending {
  readonly asked: Promise<void>;
  readonly isAsked: () => boolean;
  /** Stops listening to signals. */
  forget(): void;
}

/** Listens for Ctrl-C and its like. The second one ends the process at once. */
export function listenForEnd(): Ending {
  const asked = Promise.withResolvers<void>();
  let isAsked = false;
  const end = () => {
    isAsked = true;
    asked.resolve();
  };
  const onSignal = () => {
    if (isAsked) process.exit(AT_ONCE_STATUS);
    end();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // The reader of a pipe is gone. What is still written after that fails too, so this one stays.
  process.stdout.on('error', end);
  return {
    asked: asked.promise,
    isAsked: () => isAsked,
    forget: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

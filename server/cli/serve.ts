import type { Logger } from 'pino';
import { openEmbedded } from '../app/backends-embedded.ts';
import { type RunningServer, type ServerOptions, startServer } from '../app/server.ts';
import type { Config } from '../platform/config.ts';
import { createLogger, type LogStream, standardError } from '../platform/logging.ts';
import { stopSignals } from '../platform/stop-signal.ts';
import { writeServerUrl } from '../storage/sql/lock.ts';

// O-11 allows 10 s in total; the last commit may take 2 s of it.
const DRAIN_GRACE_MS = 7_000;

/**
 * Runs the service until a signal stops it (SPEC O-1, O-11).
 * @param unknownVariables environment variables that are probably misspelled settings
 * @returns the exit status: 0, or 1 when pending work could not be finished in time
 * @throws Error with a line for the operator when it cannot start
 */
export async function serve(
  config: Config,
  version: string,
  unknownVariables: readonly string[],
): Promise<number> {
  const log = standardError();
  const logger = createLogger(config.logLevel, log);
  for (const variable of unknownVariables) {
    logger.warn({ variable }, 'unknown setting in the environment; check its spelling');
  }
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'the service ends because of an unexpected error');
    void fail(log);
  });
  process.on('unhandledRejection', (reason) => {
    logger.error({ err: reason }, 'unhandled rejection');
  });
  try {
    return await runServer({ config, version, logger }, log);
  } finally {
    await log.end();
  }
}

async function runServer(
  options: Omit<ServerOptions, 'onFailed' | 'openBackends'>,
  log: LogStream,
): Promise<number> {
  const { config, version, logger } = options;
  // Listen before the start, so that a signal during or right after it is not missed.
  const signaled = nextSignal();
  const starting = startServer({
    ...options,
    openBackends: config.database === null ? openEmbedded : await loadShared(),
    // a start needs no repair, so a restart is the fastest recovery.
    onFailed: (reason) => {
      logger.fatal(
        { reason },
        'a worker thread failed; the service ends and must be started again',
      );
      void fail(log);
    },
  });
  // A node waits for unavailable backends; a signal must end that wait too (N-2).
  const server = await Promise.race([starting, signaled]);
  if (typeof server === 'string') return 0;
  logger.info({ url: server.url, database: server.location, version }, 'listening');
  if (config.database === null) recordUrl(config, server.url, logger);
  const lines = [`Fourbeat is listening on ${server.url} (${server.location})`];
  const link = await createSetupLink(server, logger);
  if (link !== null)
    lines.push(`To create the first account, open ${link} (works once, within 24 h)`);
  console.log(lines.join('\n'));

  const signal = await signaled;
  // Listen before the log line: a second signal may follow it immediately.
  void nextSignal().then(() => {
    log.abandon();
    process.exit(1);
  });
  logger.info({ signal }, 'stopping');
  const clean = await server.stop(DRAIN_GRACE_MS);
  if (clean) logger.info('stopped');
  else logger.warn('stopped before all work was finished');
  return clean ? 0 : 1;
}

/** `member link` prints links to this URL. Without it they have the port of the settings. */
function recordUrl({ data, publicUrl }: Config, url: string, logger: Logger): void {
  try {
    writeServerUrl(data, publicUrl ?? url);
  } catch (error) {
    logger.warn(
      { err: error },
      'the URL of the service could not be written to the data directory',
    );
  }
}

/** The link is a secret (U-12): it goes to standard output, not to the log. */
async function createSetupLink(server: RunningServer, logger: Logger): Promise<string | null> {
  try {
    const link = await server.newSetupLink();
    if (link !== null)
      logger.info('no member exists yet; standard output has a link to create the first account');
    return link;
  } catch (error) {
    logger.warn({ err: error }, 'the link to create the first account could not be created');
    return null;
  }
}

async function fail(log: LogStream): Promise<void> {
  await log.end();
  process.exit(1);
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of stopSignals()) process.once(signal, resolve);
  });
}

/** Not part of every start: loading the clients of PostgreSQL and Redis takes 90 ms. */
async function loadShared() {
  return (await import('../app/backends-shared.ts')).openShared;
}

import type { Logger } from 'pino';
import { openEmbedded } from '../app/backends-embedded.ts';
import { openShared } from '../app/backends-shared.ts';
import { type RunningServer, type ServerOptions, startServer } from '../app/server.ts';
import type { Config } from '../platform/config.ts';
import { createLogger, type LogStream, standardError } from '../platform/logging.ts';

// O-11 allows 10 s in all, and the commit at the end may take 2 of them.
const DRAIN_GRACE_MS = 7_000;

/**
 * Runs the service until it is told to stop (SPEC O-1, O-11).
 * @param unknownVariables names in the environment that are probably misspelt settings
 * @returns the exit status: 0, or 1 when not everything could be finished in time
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
    logger.warn({ variable }, 'there is no setting of this name');
  }
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'the service ends');
    void fail(log);
  });
  process.on('unhandledRejection', (reason) => {
    logger.error({ err: reason }, 'a failure that nobody waited for');
  });
  try {
    return await runServer({ config, version, logger }, log);
  } finally {
    await log.end();
  }
}

async function runServer(
  options: Omit<ServerOptions, 'onLost' | 'openBackends'>,
  log: LogStream,
): Promise<number> {
  const { config, version, logger } = options;
  // From here on, so that none that comes during the start, or right after it, is missed.
  const told = nextSignal();
  const starting = startServer({
    ...options,
    openBackends: config.database === null ? openEmbedded : openShared,
    // the next start needs no repair, so to end is the quickest way back to a record.
    onLost: (reason) => {
      logger.fatal({ reason }, 'a thread is lost, so the service ends');
      void fail(log);
    },
  });
  // A node waits for backends that are unavailable, and must not have to be killed for that (N-2).
  const server = await Promise.race([starting, told]);
  if (typeof server === 'string') return 0;
  logger.info({ url: server.url, record: server.place, version }, 'listening');
  const lines = [`Fourbeat is listening on ${server.url} (${server.place})`];
  const link = await setupLink(server, logger);
  if (link !== null) lines.push(`To make the first account, open ${link} (once, within 24 h)`);
  console.log(lines.join('\n'));

  const signal = await told;
  logger.info({ signal }, 'stopping');
  void nextSignal().then(() => {
    log.abandon();
    process.exit(1);
  });
  const clean = await server.stop(DRAIN_GRACE_MS);
  if (clean) logger.info('stopped');
  else logger.warn('stopped before everything was finished');
  return clean ? 0 : 1;
}

/** The link is a secret, so the log does not say it: whoever sees this terminal may use it (U-12). */
async function setupLink(server: RunningServer, logger: Logger): Promise<string | null> {
  try {
    const link = await server.newSetupLink();
    if (link !== null) logger.info('nobody can sign in yet; standard output has a link for it');
    return link;
  } catch (error) {
    logger.warn({ err: error }, 'no link to make the first account could be made');
    return null;
  }
}

async function fail(log: LogStream): Promise<void> {
  await log.end();
  process.exit(1);
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, resolve);
  });
}

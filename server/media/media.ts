import type { Logger } from 'pino';
import type { Store } from '../app/procedures.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { WebSocketRoutes } from '../http/route.ts';
import type { PathHandler } from '../http/router.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Reading } from '../platform/metrics.ts';
import { Channels } from './channels.ts';
import type { ContainerReader } from './container/container.ts';
import { FlvReader } from './container/flv.ts';
import { MatroskaReader } from './container/matroska.ts';
import { MpegTsReader } from './container/mpegts.ts';
import type { IngestAddresses } from './ingest/ingest-addresses.ts';
import { mediaReadings } from './media-metrics.ts';
import { originRoutes } from './origin/origin-routes.ts';
import { startEncoder } from './packager/encoder-ffmpeg.ts';
import { ffprobeBeside, findFfmpeg } from './packager/find-ffmpeg.ts';
import { startProbe } from './packager/probe.ts';
import { listenRtmp } from './rtmp/rtmp-listener.ts';
import type { Container } from './source.ts';
import { listenSrt } from './srt/listen-srt.ts';
import { openSegmentStore } from './store/segment-store-files.ts';
import { INGEST_PATH, WebSocketIngest } from './websocket/websocket-ingest.ts';
import type { WebSocketSource } from './websocket/websocket-source.ts';

export interface MediaOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: RequestLog;
  /** Whose share of rate limits a client uses. */
  readonly addressOf: (request: Request) => string;
  readonly newId: () => string;
}

/** Everything about video: sources in, segments out. */
export interface Media {
  readonly routes: Record<string, PathHandler>;
  readonly sockets: WebSocketRoutes<WebSocketSource>;
  /** Ports that are open; none before `begin` has opened them. */
  readonly addresses: IngestAddresses;
  readonly readings: Reading[];
  /** Opens the ports for sources. What cannot be opened is logged, and the rest goes on (M-44). */
  begin(): Promise<void>;
  /** Ends sources and held requests, and takes no more. */
  drain(): Promise<void>;
  /** Everything that was made is on disk. */
  end(): Promise<void>;
}

interface Listener {
  readonly port: number;
  stop(): Promise<void> | void;
}

// What others write must not fail because of video.
const MIN_FREE_BYTES = 500_000_000;

const READERS: Readonly<Record<Container, new () => ContainerReader>> = {
  flv: FlvReader,
  matroska: MatroskaReader,
  mpegts: MpegTsReader,
};

/** Puts video together on the database and a directory. */
export async function createMedia(options: MediaOptions): Promise<Media> {
  const { store, clock, newId, config } = options;
  const { media } = config;
  const logger = options.logger.child({ part: 'media' });
  const nowMs = () => clock.nowMs();
  const shelves = await openSegmentStore({
    directory: media.directory,
    dvrMs: media.dvrMs,
    spaceBytes: media.spaceBytes,
    minFreeBytes: MIN_FREE_BYTES,
    nowMs,
    isRecording: async (id) => (await store.findStream({ id }))?.recording ?? null,
    logger,
  });
  const ffmpeg = once(() => findFfmpeg(media));
  const channels = new Channels({
    config: media,
    store,
    segmentStore,
    parts: {
      startProbe: startProbe(ffprobeBeside(media.ffmpeg)),
      startEncoder,
      newReader: (container) => new READERS[container](),
      nowMs,
    },
    unavailableReason: async () => {
      const found = await ffmpeg();
      return 'missing' in found ? 'This service cannot encode video; its log says why.' : null;
    },
    newId,
    logger,
  });
  const { corsOrigin, host } = config;
  const { log, addressOf } = options;
  const websocket = new WebSocketIngest({ ingest: channels, logger, addressOf, corsOrigin, log });
  const origin = originRoutes({ playables: channels, corsOrigin, log });
  let isDraining = false;
  const open: { rtmp: Listener | null; srt: Listener | null } = { rtmp: null, srt: null };

  async function openPort(
    name: 'rtmp' | 'srt',
    port: number | null,
    listen: (port: number) => Promise<Listener>,
  ): Promise<void> {
    if (port === null || isDraining) return;
    try {
      const listener = await listen(port);
      if (isDraining) {
        await listener.stop();
        return;
      }
      open[name] = listener;
      logger.info({ port: listener.port }, `video comes in by ${name.toUpperCase()}`);
    } catch (error) {
      logger.error(`no video by ${name.toUpperCase()}: ${(error as Error).message}`);
    }
  }

  return {
    routes: origin.routes,
    sockets: {
      paths: { [INGEST_PATH]: (...call) => websocket.upgrade(...call) },
      handlers: websocket.handlers,
    },
    addresses: {
      get rtmpPort() {
        return open.rtmp?.port ?? null;
      },
      get srtPort() {
        return open.srt?.port ?? null;
      },
    },
    readings: mediaReadings(channels, shelves, () => origin.stats()),
    async begin() {
      const found = await ffmpeg();
      if ('missing' in found) {
        logger.warn(`${found.missing}; everything but video works`);
        return;
      }
      const common = { host, ingest: channels, logger };
      await openPort('rtmp', media.rtmpPort, (port) => listenRtmp({ ...common, port }));
      await openPort('srt', media.srtPort, (port) =>
        listenSrt({ ...common, port, ffmpeg: media.ffmpeg }),
      );
    },
    async drain() {
      isDraining = true;
      origin.drain();
      const listeners = [open.rtmp, open.srt].map((listener) => listener?.stop());
      await Promise.all([channels.stop(), websocket.stop(), ...listeners]);
    },
    end: () => shelves.close(),
  };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | null = null;
  return () => {
    doing ??= work();
    return doing;
  };
}

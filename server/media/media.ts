import type { Logger } from 'pino';
import type { RequestLog } from '../http/request-log.ts';
import type { WebSocketRoutes } from '../http/route.ts';
import type { PathHandler } from '../http/router.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { MetricDefinition } from '../platform/metrics.ts';
import { ChannelCache, type MediaStream, type MediaStreamStore } from './channel-cache.ts';
import type { ContainerReader } from './container/container.ts';
import { FlvReader } from './container/flv.ts';
import { MatroskaReader } from './container/matroska.ts';
import { MpegTsReader } from './container/mpegts.ts';
import type { IngestAddresses } from './ingest/ingest-addresses.ts';
import { IngestPorts } from './ingest/ingest-ports.ts';
import { mediaMetrics } from './media-metrics.ts';
import { Origin } from './origin/origin-routes.ts';
import { startEncoder } from './packager/encoder-ffmpeg.ts';
import { checkFfmpeg, ffprobeBeside } from './packager/find-ffmpeg.ts';
import type { PackagerDependencies } from './packager/packager.ts';
import { startProbe } from './packager/probe.ts';
import { listenRtmp } from './rtmp/rtmp-listener.ts';
import type { Container, Ingest } from './source.ts';
import { type SourceLeaseStore, SourceRegistry } from './source-registry.ts';
import { listenSrt } from './srt/srt-listener.ts';
import { openSegmentStore } from './store/segment-store-files.ts';
import { VideoReadiness } from './video-readiness.ts';
import { INGEST_PATH, WebSocketIngest } from './websocket/websocket-ingest.ts';
import type { WebSocketSource } from './websocket/websocket-source.ts';

export interface MediaOptions {
  readonly config: Config;
  readonly store: SourceLeaseStore & MediaStreamStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: RequestLog;
  /** Admits members and service tokens of the account of a stream to its preview. @throws DomainError */
  readonly authorizePreview: (request: Request, streamId: string) => Promise<void>;
  /** The rate limit key of a client. */
  readonly addressOf: (request: Request) => string;
  readonly newId: () => string;
}

/** Video: ingest, encoding, storage and playback. */
export interface Media {
  readonly routes: Record<string, PathHandler>;
  readonly sockets: WebSocketRoutes<WebSocketSource>;
  /** The ingest ports that are open now. */
  readonly addresses: IngestAddresses;
  readonly metrics: MetricDefinition[];
  /** Checks ffmpeg and opens the ingest ports. What fails is logged and tried again (M-44). */
  start(): Promise<void>;
  /** Ends sources and pending requests, and refuses new ones. */
  drain(): Promise<void>;
  /** Resolves when all segments are on disk. */
  close(): Promise<void>;
}

/** Where members of the studio get the video of a stream, also before its start (M-34). */
export const PREVIEW_PATH = '/media/previews/:stream_id';

// Video leaves this much disk space to everything else that writes.
const MIN_FREE_BYTES = 500_000_000;

const READERS: Readonly<Record<Container, new () => ContainerReader>> = {
  flv: FlvReader,
  matroska: MatroskaReader,
  mpegts: MpegTsReader,
};

/** Creates media on the database and a directory. @throws Error when the directory is unreadable */
export async function createMedia(options: MediaOptions): Promise<Media> {
  const { store, clock, newId, config } = options;
  const { media, corsOrigin } = config;
  const { log, addressOf } = options;
  const logger = options.logger.child({ part: 'media' });
  const nowMs = () => clock.nowMs();
  const segmentStore = await openSegmentStore({
    directory: media.directory,
    dvrMs: media.dvrMs,
    spaceBytes: media.spaceBytes,
    minFreeBytes: MIN_FREE_BYTES,
    nowMs,
    isRecording: async (id) => wantsRecording(await store.findStream({ id })),
    logger,
  });
  const ports = new IngestPorts(logger);
  const readiness = new VideoReadiness({
    checkFfmpeg: () => checkFfmpeg(media),
    openPorts: () => openPorts(ports, config, sources, logger),
    logger,
  });
  const channels = new ChannelCache({ config: media, store, segmentStore, nowMs, logger });
  const sources = new SourceRegistry({
    config: media,
    store,
    channels,
    packager: createPackagerDependencies(media.ffmpeg, nowMs),
    unavailableReason: async () =>
      (await readiness.isReady()) ? null : 'This service cannot encode video; see its log.',
    newId,
    logger,
  });
  const websocket = new WebSocketIngest({ ingest: sources, logger, addressOf, corsOrigin, log });
  const origin = new Origin({ streams: channels, addressOf, corsOrigin, log });
  const previews = new Origin({
    ...{ addressOf, corsOrigin, log },
    streams: { find: (streamId, network) => channels.findPreview(streamId, network) },
    basePath: PREVIEW_PATH,
    authorize: options.authorizePreview,
  });

  return {
    routes: { ...origin.routes, ...previews.routes },
    sockets: {
      paths: { [INGEST_PATH]: (...call) => websocket.upgrade(...call) },
      handlers: websocket.handlers,
    },
    addresses: ports,
    metrics: mediaMetrics(sources, segmentStore, origin),
    start: () => readiness.start(),
    async drain() {
      readiness.stop();
      const closing = ports.close();
      origin.drain();
      previews.drain();
      await Promise.all([sources.stop(), websocket.stop(), closing]);
    },
    close: () => segmentStore.close(),
  };
}

/**
 * Whether the producer wants a stream as a recording; null: unknown. A database that was restored may
 * be older than a recording: only a stream that has ended there is none.
 */
function wantsRecording(stream: MediaStream | null): boolean | null {
  if (stream?.recording) return true;
  return stream === null || stream.ended === null ? null : false;
}

/** Opens the ports that are not open. @returns whether none is left */
async function openPorts(
  ports: IngestPorts,
  { host, media }: Config,
  ingest: Ingest,
  logger: Logger,
): Promise<boolean> {
  const { rtmpPort, srtPort, ffmpeg } = media;
  const common = { host, ingest, logger };
  const areOpen = [
    await ports.open('rtmp', rtmpPort, (port) => listenRtmp({ ...common, port })),
    await ports.open('srt', srtPort, (port) => listenSrt({ ...common, port, ffmpeg })),
  ];
  return !areOpen.includes(false);
}

function createPackagerDependencies(ffmpeg: string, nowMs: () => number): PackagerDependencies {
  return {
    startProbe: startProbe(ffprobeBeside(ffmpeg)),
    startEncoder,
    newReader: (container) => new READERS[container](),
    nowMs,
  };
}

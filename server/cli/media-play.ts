import { newStreamKey } from '../media/ingest/stream-key.ts';
import { play } from '../media/play/play.ts';
import type { PlayInput } from '../media/play/play-encoder.ts';
import { type PlayReport, plainReport, terminalReport } from '../media/play/play-report.ts';
import {
  fetchSourceAddress,
  type SourceAddress,
  SourceAddressError,
  startStream,
} from '../media/play/source-address.ts';
import { runtime } from '../platform/runtime.ts';
import { listenForStop } from '../platform/stop-signal.ts';
import { withDatabase } from './with-database.ts';

export interface PlayCommand {
  readonly input: PlayInput;
  readonly streamId: string;
  readonly origin: string;
  /** Producer API token; null reads the address from the database instead of the service. */
  readonly token: string | null;
  readonly data: string | null;
  readonly ffmpeg: string;
  readonly plain: boolean;
  readonly print: (line: string) => void;
}

/** Plays to the end of the input, or until Ctrl-C. @throws Error with a one-line message for the user */
export async function playToStream(command: PlayCommand): Promise<void> {
  const { input, origin, token, streamId, ffmpeg } = command;
  const report = reportOf(command);
  const stopSignal = listenForStop();
  try {
    await play({
      input,
      origin,
      ffmpeg,
      report,
      stopRequested: stopSignal.requested,
      findAddress: () =>
        token === null
          ? addressFromDatabase(command)
          : fetchSourceAddress({ origin, token, streamId }),
      startShow: () =>
        token === null ? startInDatabase(command) : startStream({ origin, token, streamId }),
    });
  } finally {
    stopSignal.dispose();
    report.close();
  }
}

function reportOf({ plain, print }: PlayCommand): PlayReport {
  const { stdout } = process;
  return stdout.isTTY && !plain ? terminalReport(stdout) : plainReport(print);
}

function startInDatabase({ data, streamId }: PlayCommand): Promise<void> {
  return withDatabase({ data: data ?? '', database: null }, false, async (store, nowMs) => {
    const stream = await store.findStream({ id: streamId });
    if (stream) await store.startStream({ id: stream.id, producer: stream.producer, nowMs });
  });
}

/** Reads the stream key from the database: a user who can read it may send to every stream. */
function addressFromDatabase({ data, origin, streamId }: PlayCommand): Promise<SourceAddress> {
  return withDatabase({ data: data ?? '', database: null }, false, async (store) => {
    const stream = await store.findStream({ id: streamId });
    if (!stream)
      throw new SourceAddressError(`the database in ${data} has no stream ${streamId}`, false);
    const { id, producer, title } = stream;
    const key = await store.keepStreamKey({
      id,
      producer,
      offered: newStreamKey(runtime.randomBytes),
    });
    return { key, title, url: `${origin.replace(/^http/, 'ws')}/media/${id}/ingest` };
  });
}

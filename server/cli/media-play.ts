import { randomBytes } from 'node:crypto';
import { newStreamKey } from '../media/ingest/stream-key.ts';
import { play } from '../media/play/play.ts';
import type { PlayInput } from '../media/play/play-encoder.ts';
import { type PlayReport, plainReport, terminalReport } from '../media/play/play-report.ts';
import {
  fetchSourceAddress,
  type SourceAddress,
  SourceAddressError,
} from '../media/play/source-address.ts';
import { listenForStop } from '../platform/stop-signal.ts';
import { withDatabase } from './record.ts';

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

/** Plays until the end, or until Ctrl-C. @throws Error with a one-line message for the user */
export async function playToStream(command: PlayCommand): Promise<void> {
  const { input, origin, token, streamId, ffmpeg } = command;
  const report = reportOf(command);
  const ending = listenForStop();
  try {
    await play({
      input,
      origin,
      ffmpeg,
      report,
      stopRequested: ending.requested,
      findAddress: () =>
        token === null ? addressInRecord(command) : fetchSourceAddress({ origin, token, streamId }),
    });
  } finally {
    ending.dispose();
    report.close();
  }
}

function reportOf({ plain, print }: PlayCommand): PlayReport {
  const { stdout } = process;
  return stdout.isTTY && !plain ? terminalReport(stdout) : plainReport(print);
}

/** Who may read the database may send to all its streams. */
function addressInRecord({ data, origin, streamId }: PlayCommand): Promise<SourceAddress> {
  return withDatabase({ data: data ?? '', database: null }, false, async (store) => {
    const stream = await store.findStream({ id: streamId });
    if (!stream) throw new SourceAddressError(`there is no stream ${streamId} in ${data}`, false);
    const { id, producer, title } = stream;
    const key = await store.keepStreamKey({ id, producer, offered: newStreamKey(randomBytes) });
    return { key, title, url: `${origin.replace(/^http/, 'ws')}/media/${id}/ingest` };
  });
}

import { randomBytes } from 'node:crypto';
import { newStreamKey } from '../media/ingest/stream-key.ts';
import { play } from '../media/play/play.ts';
import { type PlayReport, plainReport, terminalReport } from '../media/play/play-report.ts';
import type { Material } from '../media/play/sender.ts';
import { askForAddress, NoAddress, type SourceAddress } from '../media/play/source-address.ts';
import { listenForEnd } from '../platform/end-signal.ts';
import { withDatabase } from './record.ts';

export interface PlayCommand {
  readonly material: Material;
  readonly streamId: string;
  readonly origin: string;
  /** null: the database is asked in place of the service. */
  readonly token: string | null;
  readonly data: string | null;
  readonly ffmpeg: string;
  readonly plain: boolean;
  readonly print: (line: string) => void;
}

/** Plays until the end, or until Ctrl-C. @throws Error with a line for the person who started it */
export async function playToStream(command: PlayCommand): Promise<void> {
  const { material, origin, token, streamId, ffmpeg } = command;
  const report = reportOf(command);
  const ending = listenForEnd();
  try {
    await play({
      material,
      origin,
      ffmpeg,
      report,
      asked: ending.asked,
      findAddress: () =>
        token === null ? addressInRecord(command) : askForAddress({ origin, token, streamId }),
    });
  } finally {
    ending.forget();
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
    if (!stream) throw new NoAddress(`there is no stream ${streamId} in ${data}`, false);
    const { id, producer, title } = stream;
    const key = await store.keepStreamKey({ id, producer, offered: newStreamKey(randomBytes) });
    return { key, title, url: `${origin.replace(/^http/, 'ws')}/media/${id}/ingest` };
  });
}

import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { StreamFolder } from './stream-folder.ts';

const AGAIN_MS = 60_000;

/** Tells the log when recordings lose their beginning to make room, of each at most once a minute. */
export class EvictionLog {
  private readonly told = new WeakMap<StreamFolder, { atMs: number; segments: number }>();

  /** @param nowMs service time, Unix ms */
  constructor(
    private readonly logger: Logger,
    private readonly nowMs: () => number,
  ) {}

  /** A segment was removed. */
  note(folder: StreamFolder): void {
    if (folder.state.keeping !== 'recording') return;
    const told = this.told.get(folder) ?? { atMs: Number.NEGATIVE_INFINITY, segments: 0 };
    this.told.set(folder, told);
    told.segments++;
    const nowMs = this.nowMs();
    if (nowMs - told.atMs < AGAIN_MS) return;
    told.atMs = nowMs;
    this.logger.info(
      { stream: basename(folder.path), segments: told.segments },
      'a recording loses its oldest segments, to make room',
    );
  }
}

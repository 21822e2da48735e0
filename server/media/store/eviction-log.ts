import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { StreamFolder } from './stream-folder.ts';

const REPORT_INTERVAL_MS = 60_000;

/** Logs recordings whose oldest segments are evicted, each at most once a minute, and evictions without effect. */
export class EvictionLog {
  private readonly reports = new WeakMap<StreamFolder, { atMs: number; segments: number }>();

  /** @param nowMs service time, Unix ms */
  constructor(
    private readonly logger: Logger,
    private readonly nowMs: () => number,
  ) {}

  /** Call after the eviction of a segment. */
  onSegmentEvicted(folder: StreamFolder): void {
    if (folder.state.retention !== 'recording') return;
    const report = this.reports.get(folder) ?? { atMs: Number.NEGATIVE_INFINITY, segments: 0 };
    this.reports.set(folder, report);
    report.segments++;
    const nowMs = this.nowMs();
    if (nowMs - report.atMs < REPORT_INTERVAL_MS) return;
    report.atMs = nowMs;
    this.logger.info(
      { stream: basename(folder.path), segments: report.segments },
      'oldest segments of a recording evicted to free disk space',
    );
  }
  /** Call when evicted segments have not freed their disk space after a minute. */
  onSpaceUnreleased(bytes: number): void {
    this.logger.warn(
      { bytes },
      'deleted video freed no disk space within a minute; look for snapshots and open files',
    );
  }
}

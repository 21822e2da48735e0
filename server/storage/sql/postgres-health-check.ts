export const TICK_MS = 25;
/** After 75 ms without a response to a pending statement, a probe is sent: the statement may be slow. */
const PROBE_TICKS = 3;
/** After 225 to 250 ms without any response, the server is unavailable. */
const UNAVAILABLE_TICKS = 10;
/** An idle connection is probed each second, for `/readyz`. */
const IDLE_PROBE_TICKS = 1_000 / TICK_MS;

/**
 * Decides whether PostgreSQL is available, from the responses on all connections. It counts ticks and
 * not milliseconds: while this process is stalled it receives nothing, which says nothing about the
 * server.
 */
export class HealthCheck {
  private hasResponse = false;
  private silentTicks = 0;
  private idleTicks = 0;

  onResponse(): void {
    this.hasResponse = true;
  }

  /** Call it every `TICK_MS`. @param hasPending whether any response is outstanding */
  tick(hasPending: boolean): 'healthy' | 'probe' | 'unavailable' {
    const isQuiet = !this.hasResponse;
    this.hasResponse = false;
    this.idleTicks = isQuiet && !hasPending ? this.idleTicks + 1 : 0;
    this.silentTicks = isQuiet && hasPending ? this.silentTicks + 1 : 0;
    if (this.silentTicks >= UNAVAILABLE_TICKS) return 'unavailable';
    return this.silentTicks >= PROBE_TICKS || this.idleTicks >= IDLE_PROBE_TICKS
      ? 'probe'
      : 'healthy';
  }
}

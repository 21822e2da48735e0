import type { SourceUnit } from '../container/container.ts';
import { RateMeter } from '../rate-meter.ts';
import type { Container } from '../source.ts';

// A source sends about 110 video and audio units a second, and more after a pause. 19,000 took the thread 34 to 70 ms,
// and an account has two sources for each processor.
const UNITS_PER_S_MAX = 5_000;
// A source sends 5,300 packets for each 8 Mbit/s, of which those in a row are one unit.
const MPEGTS_UNITS_PER_S_MAX = 20_000;
// Header units cost more: each packet of an MPEG-TS table takes nine times the CPU time of another one.
// A source sends its tables 10 to 40 times a second.
const HEADERS_PER_S_MAX = 2_000;
// Elements of Matroska, which are read twice: 1 MB of empty ones in few units took 420 ms. A source sends up
// to eight for each block.
const ELEMENTS_PER_S_MAX = 20_000;

/** Limits what a source sends a second, where the number of bytes does not show the work (SPEC M-16). */
export class InputRates {
  private readonly units: RateMeter;
  private readonly headers = new RateMeter(HEADERS_PER_S_MAX);
  private readonly elements = new RateMeter(ELEMENTS_PER_S_MAX);

  constructor(container: Container) {
    this.units = new RateMeter(container === 'mpegts' ? MPEGTS_UNITS_PER_S_MAX : UNITS_PER_S_MAX);
  }

  /**
   * Counts parsed input.
   * @param elements parsed elements of Matroska
   * @throws Error with a message for the sender
   */
  count(units: readonly SourceUnit[], elements: number, nowMs: number): void {
    const headers = units.filter(({ isHeader }) => isHeader).length;
    const isTooMuch =
      this.units.exceeds(units.length, nowMs) ||
      this.headers.exceeds(headers, nowMs) ||
      this.elements.exceeds(elements, nowMs);
    if (isTooMuch) throw new Error('The source sends too many packets or elements a second.');
  }
}

import { concatBytes } from '../byte-queue.ts';
import { boxes, findBox, requireBox, uint8, uint32 } from './box.ts';
import type { Fragment } from './fragment.ts';

/** Flag of a `trun` with a data offset, which counts from the start of the `moof`. */
const TRUN_DATA_OFFSET_FLAG = 0x01;
/** Additional bytes of a 64-bit time. */
const TIME_GROWTH_BYTES = 4;

/**
 * Copies a fragment to another time.
 * @param startTicks new decode time in ticks: a whole number, not below 0
 * @param sequenceNumber for `mfhd`: increases within a track, modulo 2^32
 * @returns a copy with a 64-bit `tfdt`
 */
export function retimeFragment(
  fragment: Fragment,
  startTicks: number,
  sequenceNumber: number,
): Uint8Array {
  if (!Number.isSafeInteger(startTicks) || startTicks < 0) {
    throw new Error(`a fragment cannot start at tick ${startTicks}`);
  }
  const bytes = withLongDecodeTime(fragment.bytes);
  const { moof, tfdt } = locateBoxes(bytes);
  const view = viewOf(bytes);
  view.setBigUint64(tfdt.contentStart + 4, BigInt(startTicks));
  view.setUint32(requireBox(bytes, moof, 'mfhd').contentStart + 4, sequenceNumber % 2 ** 32);
  return bytes;
}

/** The boxes that a new time affects. */
function locateBoxes(bytes: Uint8Array) {
  const moof = findBox(bytes, 0, bytes.length, 'moof');
  if (!moof) throw new Error('a fragment must have a moof');
  const traf = requireBox(bytes, moof, 'traf');
  return { moof, traf, tfdt: requireBox(bytes, traf, 'tfdt') };
}

/** A copy with a 64-bit `tfdt`, whose time must still be set. */
function withLongDecodeTime(bytes: Uint8Array): Uint8Array {
  const { moof, traf, tfdt } = locateBoxes(bytes);
  if (uint8(bytes, tfdt.contentStart) === 1) return bytes.slice();
  const cut = tfdt.contentStart + 4;
  const longer = concatBytes([
    bytes.subarray(0, cut),
    new Uint8Array(TIME_GROWTH_BYTES),
    bytes.subarray(cut),
  ]);
  const view = viewOf(longer);
  for (const box of [moof, traf, tfdt]) {
    view.setUint32(box.start, box.end - box.start + TIME_GROWTH_BYTES);
  }
  view.setUint8(tfdt.contentStart, 1);
  // Data offsets grow with the boxes before the data.
  for (const box of boxes(longer, traf.contentStart, traf.end + TIME_GROWTH_BYTES)) {
    if (box.type !== 'trun' || !(uint32(longer, box.contentStart) & TRUN_DATA_OFFSET_FLAG))
      continue;
    view.setInt32(box.contentStart + 8, view.getInt32(box.contentStart + 8) + TIME_GROWTH_BYTES);
  }
  return longer;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

import { joined } from '../byte-queue.ts';
import { type Box, boxAt, boxes, findBox, uint8, uint32 } from './box.ts';
import type { Fragment } from './fragment.ts';

/** Of a `trun`: it says where its data is, counted from the beginning of the `moof`. */
const DATA_OFFSET = 0x01;
/** A time takes four bytes more when it has 64 bits. */
const LONGER_BYTES = 4;

/**
 * A fragment at another time. The fragment itself is left as it is.
 * @param startTicks its decode time, in ticks of its track: a whole number, not below 0
 * @param sequenceNumber for its `mfhd`: it rises from fragment to fragment within a track, and
 *   begins again after 2^32
 * @returns a copy with a 64-bit `tfdt`
 */
export function retimed(
  fragment: Fragment,
  startTicks: number,
  sequenceNumber: number,
): Uint8Array {
  if (!Number.isSafeInteger(startTicks) || startTicks < 0) {
    throw new Error(`no fragment can start at ${startTicks}`);
  }
  const bytes = withLongTime(fragment.bytes);
  const { moof, tfdt } = places(bytes);
  const view = viewOf(bytes);
  view.setBigUint64(tfdt.content + 4, BigInt(startTicks));
  view.setUint32(boxAt(bytes, moof, 'mfhd').content + 4, sequenceNumber % 2 ** 32);
  return bytes;
}

/** Where the boxes are that a new time changes. */
interface Places {
  readonly moof: Box;
  readonly traf: Box;
  readonly tfdt: Box;
}

function places(bytes: Uint8Array): Places {
  const moof = findBox(bytes, 0, bytes.length, 'moof');
  if (!moof) throw new Error('a fragment must have a moof');
  const traf = boxAt(bytes, moof, 'traf');
  return { moof, traf, tfdt: boxAt(bytes, traf, 'tfdt') };
}

/** A copy whose `tfdt` has 64 bits; the time in it is that of before, or still to be set. */
function withLongTime(bytes: Uint8Array): Uint8Array {
  const { moof, traf, tfdt } = places(bytes);
  if (uint8(bytes, tfdt.content) === 1) return bytes.slice();
  const cut = tfdt.content + 4;
  const longer = joined([
    bytes.subarray(0, cut),
    new Uint8Array(LONGER_BYTES),
    bytes.subarray(cut),
  ]);
  const view = viewOf(longer);
  for (const box of [moof, traf, tfdt]) {
    view.setUint32(box.start, box.end - box.start + LONGER_BYTES);
  }
  view.setUint8(tfdt.content, 1);
  // The data moved with the boxes before it.
  for (const box of boxes(longer, traf.content, traf.end + LONGER_BYTES)) {
    if (box.type !== 'trun' || !(uint32(longer, box.content) & DATA_OFFSET)) continue;
    view.setInt32(box.content + 8, view.getInt32(box.content + 8) + LONGER_BYTES);
  }
  return longer;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

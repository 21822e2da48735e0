import { type Box, boxes, requireBox, uint8, uint16, uint32 } from './box.ts';

/** Size of a sample entry before its boxes, bytes (ISO/IEC 14496-12, 12.1.3 and 12.2.3). */
const VIDEO_ENTRY_BYTES = 78;
const AUDIO_ENTRY_BYTES = 28;

/** Codec strings without parameters, by sample entry type. */
const CODECS_WITHOUT_PARAMETERS: Readonly<Record<string, string>> = {
  Opus: 'opus',
  fLaC: 'flac',
  'ac-3': 'ac-3',
  'ec-3': 'ec-3',
};

/**
 * The codec string of a track (RFC 6381).
 * @param stsd the sample description box
 * @throws Error for an unknown codec
 */
export function codecOf(bytes: Uint8Array, stsd: Box): string {
  // Skip version, flags and entry count. Only the first entry is used.
  const [entry] = boxes(bytes, stsd.contentStart + 8, stsd.end);
  if (!entry) throw new Error('invalid MP4: stsd is empty');
  const codec = CODECS_WITHOUT_PARAMETERS[entry.type];
  if (codec !== undefined) return codec;
  switch (entry.type) {
    case 'avc1':
    case 'avc3':
      return avc(bytes, entry, configuration(bytes, entry, VIDEO_ENTRY_BYTES, 'avcC'));
    case 'hvc1':
    case 'hev1':
      return hevc(bytes, entry, configuration(bytes, entry, VIDEO_ENTRY_BYTES, 'hvcC'));
    case 'av01':
      return av1(bytes, configuration(bytes, entry, VIDEO_ENTRY_BYTES, 'av1C'));
    case 'vp09':
      return vp9(bytes, configuration(bytes, entry, VIDEO_ENTRY_BYTES, 'vpcC'));
    case 'mp4a':
      return mpeg4Audio(bytes, configuration(bytes, entry, AUDIO_ENTRY_BYTES, 'esds'));
    default:
      throw new Error(
        `the encoder wrote the codec ${JSON.stringify(entry.type)}, which players do not know`,
      );
  }
}

function configuration(bytes: Uint8Array, entry: Box, entryBytes: number, type: string): Box {
  return requireBox(bytes, { ...entry, contentStart: entry.contentStart + entryBytes }, type);
}

/** ISO/IEC 14496-15, 5.3.3.1: profile, compatibility and level. */
function avc(bytes: Uint8Array, entry: Box, box: Box): string {
  const offset = box.contentStart + 1;
  return `${entry.type}.${hex(bytes, offset)}${hex(bytes, offset + 1)}${hex(bytes, offset + 2)}`;
}

/** ISO/IEC 14496-15, annex E.3. */
function hevc(bytes: Uint8Array, entry: Box, box: Box): string {
  const offset = box.contentStart + 1;
  const first = uint8(bytes, offset);
  const space = ['', 'A', 'B', 'C'][first >> 6];
  const tier = first & 0x20 ? 'H' : 'L';
  const compatibility = reverseBits32(uint32(bytes, offset + 1)).toString(16);
  const constraints: string[] = [];
  for (let i = 0; i < 6; i++) constraints.push(uint8(bytes, offset + 5 + i).toString(16));
  while (constraints.at(-1) === '0') constraints.pop();
  const parts = [entry.type, `${space}${first & 0x1f}`, compatibility];
  return [...parts, `${tier}${uint8(bytes, offset + 11)}`, ...constraints].join('.');
}

function reverseBits32(value: number): number {
  let left = value;
  let reversed = 0;
  for (let i = 0; i < 32; i++) {
    reversed = reversed * 2 + (left & 1);
    left >>>= 1;
  }
  return reversed;
}

/** AV1 in ISO base media files, section 5. */
function av1(bytes: Uint8Array, box: Box): string {
  const first = uint8(bytes, box.contentStart + 1);
  const second = uint8(bytes, box.contentStart + 2);
  const depth = second & 0x40 ? (second & 0x20 ? 12 : 10) : 8;
  return `av01.${first >> 5}.${decimal(first & 0x1f)}${second & 0x80 ? 'H' : 'M'}.${decimal(depth)}`;
}

/** VP codecs in ISO base media files. */
function vp9(bytes: Uint8Array, box: Box): string {
  const offset = box.contentStart + 4;
  const [profile, level, depth] = [0, 1, 2].map((i) => uint8(bytes, offset + i));
  return `vp09.${decimal(profile ?? 0)}.${decimal(level ?? 0)}.${decimal((depth ?? 0) >> 4)}`;
}

/** ISO/IEC 14496-14, 5.6: the object type, and for MPEG-4 the audio object type. */
function mpeg4Audio(bytes: Uint8Array, box: Box): string {
  let offset = descriptorContentStart(bytes, box.contentStart + 4, 0x03);
  const flags = uint8(bytes, offset + 2);
  offset += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x20 ? 2 : 0);
  if (flags & 0x40) offset += 1 + uint8(bytes, offset);
  offset = descriptorContentStart(bytes, offset, 0x04);
  const objectType = uint8(bytes, offset);
  if (objectType !== 0x40) return `mp4a.${objectType.toString(16).padStart(2, '0')}`;
  offset = descriptorContentStart(bytes, offset + 13, 0x05);
  const first = uint8(bytes, offset) >> 3;
  if (first !== 31) return `mp4a.40.${first}`;
  return `mp4a.40.${32 + ((uint16(bytes, offset) >> 5) & 0x3f)}`;
}

/** @returns the offset of a descriptor's content */
function descriptorContentStart(bytes: Uint8Array, start: number, tag: number): number {
  if (uint8(bytes, start) !== tag) throw new Error('invalid MP4: unexpected descriptor in esds');
  // The length has one to four bytes; all but the last have the highest bit set.
  let offset = start + 1;
  while (offset < start + 4 && uint8(bytes, offset) & 0x80) offset++;
  return offset + 1;
}

function hex(bytes: Uint8Array, offset: number): string {
  return uint8(bytes, offset).toString(16).padStart(2, '0');
}

function decimal(value: number): string {
  return value.toString().padStart(2, '0');
}

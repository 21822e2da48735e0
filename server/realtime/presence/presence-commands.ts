import type { FunctionCall } from '../../storage/redis/redis.ts';
import { BLOCK_SEATS, type SeatBlock } from './presence-ring.ts';

// What nodes ask Redis about presence; its functions are in `redis/library/presence.lua`. The seats of a block
// that registered in an interval, on whatever node, are one bitset under one key; all keys of a block
// share a hash tag, so that they can be united where they lie. One more key lists the blocks that
// have any.

/** The bitset of one interval and block. */
export interface Part {
  readonly interval: number;
  readonly seats: SeatBlock;
}

/** A block of a stream, and an interval in which seats of it registered. */
export interface Announcement {
  readonly streamId: string;
  readonly block: number;
  readonly interval: number;
}

// To set one bit costs Redis as much time as to take so many bytes of a bitset (docs/scale.md).
const BYTES_PER_SEAT = 512;

/**
 * Unites bitsets with those that Redis has.
 * @param before an interval whose bitset this node handed in before, if it did
 * @returns a call that replies 1, or 0 when that is not there any more
 */
export function merge(
  streamId: string,
  block: number,
  parts: readonly Part[],
  before: number | undefined,
): FunctionCall {
  const intervals = parts.map(({ interval }) => interval);
  if (before !== undefined) intervals.push(before);
  return {
    name: 'fourbeat_hand_in',
    keys: keysOf(streamId, block, intervals),
    values: parts.flatMap(({ seats }) => valuesOf(seats)),
  };
}

/** @returns a call that replies how many seats of a block are in any of the intervals */
export function countBlock(
  streamId: string,
  block: number,
  intervals: readonly number[],
): FunctionCall {
  return { name: 'fourbeat_count', keys: keysOf(streamId, block, intervals), values: [] };
}

/** @returns a call that replies with the bitset of those seats, which may be empty */
export function uniteBlock(
  streamId: string,
  block: number,
  intervals: readonly number[],
): FunctionCall {
  return { name: 'fourbeat_unite', keys: keysOf(streamId, block, intervals), values: [] };
}

/** @returns calls that take seats out of the bitsets of these intervals */
export function evict(
  streamId: string,
  seats: readonly number[],
  intervals: readonly number[],
): FunctionCall[] {
  const blocks = Map.groupBy(seats, (seat) => Math.floor(seat / BLOCK_SEATS));
  return [...blocks].map(([block, ofBlock]) => ({
    name: 'fourbeat_expel',
    keys: keysOf(streamId, block, intervals),
    values: ofBlock.map((seat) => bitOffset(seat % BLOCK_SEATS)),
  }));
}

/** A key to work with, and those of the intervals. */
function keysOf(streamId: string, block: number, intervals: readonly number[]): string[] {
  const tag = `fourbeat:{fourbeat:${streamId}:${block}}`;
  return [`${tag}:scratch`, ...intervals.map((interval) => `${tag}:${interval}`)];
}

/** Few seats go as a list: their bitset would be as long as the highest of them is high. */
function valuesOf({ seats, bytes }: SeatBlock): [form: string, seats: string | Uint8Array] {
  return seats * BYTES_PER_SEAT < bytes.length
    ? ['list', bitOffsets(bytes).join(' ')]
    : ['bits', bytes];
}

/** The number that SETBIT has for a seat of a block. */
const bitOffset = (seat: number) => seat ^ 7;

/** The numbers that SETBIT has for the bits of a block. */
function bitOffsets(bytes: Uint8Array): number[] {
  const offsets: number[] = [];
  // By index: most bytes are 0, and there may be 128 KB of them four times a second.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    for (let bit = 0; byte >>> bit !== 0; bit += 1) {
      if ((byte >>> bit) & 1) offsets.push(bitOffset(at * 8 + bit));
    }
  }
  return offsets;
}

/** The list of blocks that have seats, of one service among those that may share a Redis. */
export class BlockList {
  private readonly keys: readonly string[];

  constructor(serviceId: string) {
    this.keys = [`fourbeat:{fourbeat}:${serviceId}:present`];
  }

  /** Lists blocks. @returns a call that replies 0 when nothing was listed before, else 1 */
  announce(interval: number, blocks: readonly Announcement[]): FunctionCall {
    const values = blocks.flatMap(({ streamId, block, interval }) => [
      interval,
      `${streamId}:${block}`,
    ]);
    return { name: 'fourbeat_announce', keys: this.keys, values: [interval, ...values] };
  }

  /** @returns a call that replies with the blocks listed for this interval or a later one */
  since(interval: number): FunctionCall {
    return { name: 'fourbeat_announced', keys: this.keys, values: [interval] };
  }

  /** @returns a call that replies with the numbers of the listed blocks of a stream, from 1 on */
  further(streamId: string): FunctionCall {
    return { name: 'fourbeat_further_blocks', keys: this.keys, values: [streamId] };
  }
}

/** The blocks in a reply to `BlockList.since`. */
export function readBlocks(reply: unknown): Array<{ streamId: string; block: number }> {
  return (reply as Uint8Array[]).map((bytes) => {
    const text = utf8.decode(bytes);
    const colon = text.lastIndexOf(':');
    return { streamId: text.slice(0, colon), block: Number(text.slice(colon + 1)) };
  });
}

const utf8 = new TextDecoder();

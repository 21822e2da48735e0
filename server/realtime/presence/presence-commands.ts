import type { FunctionCall } from '../../storage/redis/redis.ts';
import { BLOCK_SEATS, type SeatBlock } from './presence-ring.ts';

/*
 * Calls of the Redis functions for presence (`redis/library/presence.lua`). One key holds the bitset of
 * the seats of a block that registered in an interval, on any node. All keys of a block share a hash
 * tag: a cluster has them on one server. One more key lists the active blocks.
 */

/** The seats of a block that registered in an interval. */
export interface IntervalBlock {
  readonly interval: number;
  readonly seats: SeatBlock;
}

/** The newest interval in which seats of a block registered. */
export interface Announcement {
  readonly streamId: string;
  readonly block: number;
  readonly interval: number;
}

/** Bytes of a bitset that Redis reads in the time in which it sets one bit (docs/scale.md). */
const BYTES_PER_SEAT = 512;

/**
 * Merges bitsets into those that Redis has.
 * @param before an interval whose bitset this node merged before, if any
 * @returns a call that replies 1, or 0 when Redis has lost that bitset
 */
export function merge(
  streamId: string,
  block: number,
  blocks: readonly IntervalBlock[],
  before: number | undefined,
): FunctionCall {
  const intervals = blocks.map(({ interval }) => interval);
  if (before !== undefined) intervals.push(before);
  return {
    name: 'fourbeat_hand_in',
    keys: keysOf(streamId, block, intervals),
    values: blocks.flatMap(({ seats }) => valuesOf(seats)),
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

/** @returns a call that replies with the bitset of the seats that are in any of the intervals */
export function uniteBlock(
  streamId: string,
  block: number,
  intervals: readonly number[],
): FunctionCall {
  return { name: 'fourbeat_unite', keys: keysOf(streamId, block, intervals), values: [] };
}

/** @returns calls that remove seats from the bitsets of these intervals */
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

/** A scratch key, then the keys of the intervals. */
function keysOf(streamId: string, block: number, intervals: readonly number[]): string[] {
  const tag = `fourbeat:{fourbeat:${streamId}:${block}}`;
  return [`${tag}:scratch`, ...intervals.map((interval) => `${tag}:${interval}`)];
}

/** Sends few seats as a list: a bitset is as long as its highest seat requires. */
function valuesOf({ seats, bytes }: SeatBlock): [form: string, seats: string | Uint8Array] {
  return seats * BYTES_PER_SEAT < bytes.length
    ? ['list', bitOffsets(bytes).join(' ')]
    : ['bits', bytes];
}

/** The bit offset of a seat of a block, for SETBIT. */
const bitOffset = (seat: number) => seat ^ 7;

/** The bit offsets of all seats of a block, for SETBIT. */
function bitOffsets(bytes: Uint8Array): number[] {
  const offsets: number[] = [];
  // A loop by index is fast: most bytes are 0, and there may be 128 KB of them four times a second.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    for (let bit = 0; byte >>> bit !== 0; bit += 1) {
      if ((byte >>> bit) & 1) offsets.push(bitOffset(at * 8 + bit));
    }
  }
  return offsets;
}

/** The list of blocks with seats, of one service among those that may share a Redis. */
export class ActiveBlocks {
  private readonly keys: readonly string[];

  constructor(serviceId: string) {
    this.keys = [`fourbeat:{fourbeat}:${serviceId}:present`];
  }

  /** Adds blocks. @returns a call that replies 0 when the list was empty, else 1 */
  announce(interval: number, blocks: readonly Announcement[]): FunctionCall {
    const values = blocks.flatMap(({ streamId, block, interval }) => [
      interval,
      `${streamId}:${block}`,
    ]);
    return { name: 'fourbeat_announce', keys: this.keys, values: [interval, ...values] };
  }

  /** @returns a call that replies with the blocks of this interval or a later one */
  since(interval: number): FunctionCall {
    return { name: 'fourbeat_announced', keys: this.keys, values: [interval] };
  }

  /** @returns a call that replies with the listed blocks of a stream except block 0 */
  further(streamId: string): FunctionCall {
    return { name: 'fourbeat_further_blocks', keys: this.keys, values: [streamId] };
  }
}

/** Parses a reply to `ActiveBlocks.since`. */
export function readBlocks(reply: unknown): Array<{ streamId: string; block: number }> {
  return (reply as Uint8Array[]).map((bytes) => {
    const text = utf8.decode(bytes);
    const colon = text.lastIndexOf(':');
    return { streamId: text.slice(0, colon), block: Number(text.slice(colon + 1)) };
  });
}

const utf8 = new TextDecoder();

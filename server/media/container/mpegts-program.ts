import { PACKET_BYTES, readPacket } from './mpegts-packet.ts';
import { firstPmtPid, type ProgramStreams, programStreams, TableReader } from './mpegts-table.ts';

const PAT_PID = 0;
const PAT_TABLE_ID = 0;
const PMT_TABLE_ID = 2;

/** What a packet of a table was. */
export type TablePacket = 'pat' | 'pmt';

/** Follows the tables of an MPEG-TS to the streams of its first program. */
export class ProgramReader {
  /** The streams; null before the first tables. */
  streams: ProgramStreams | null = null;
  /** The packets of the last tables. */
  patPackets: Uint8Array = new Uint8Array(0);
  pmtPackets: Uint8Array = new Uint8Array(0);
  private readonly patReader = new TableReader(PAT_TABLE_ID);
  private pmtPid: number | null = null;
  private pmtReader = new TableReader(PMT_TABLE_ID);

  /** Reads a packet. @returns null for a packet of no table */
  push(bytes: Uint8Array): TablePacket | null {
    const { pid, startsPayloadUnit, content } = readPacket(bytes.subarray(0, PACKET_BYTES));
    if (pid === PAT_PID) {
      const table = this.patReader.push(bytes, startsPayloadUnit, content);
      if (!table) return 'pat';
      this.patPackets = table.packets;
      const pmtPid = firstPmtPid(table);
      if (pmtPid !== this.pmtPid) {
        this.pmtPid = pmtPid;
        this.pmtReader = new TableReader(PMT_TABLE_ID);
        this.streams = null;
      }
      return 'pat';
    }
    if (pid !== this.pmtPid) return null;
    const table = this.pmtReader.push(bytes, startsPayloadUnit, content);
    if (table) {
      this.pmtPackets = table.packets;
      this.streams = programStreams(table);
    }
    return 'pmt';
  }
}

import { writeProcedure } from '../../storage/sql/procedure.ts';

/** The name that a viewer gave with a chat message. */
export interface ViewerName {
  readonly streamId: string;
  readonly seat: number;
  readonly name: string;
  readonly messageId: string;
}

export const viewerNameProcedures = {
  /** Stores the names of viewers in place of earlier ones. @param names at most one for each viewer */
  nameViewers: writeProcedure(async (tx, names: readonly ViewerName[]): Promise<void> => {
    // Sorted by seat, so that two concurrent batches cannot deadlock.
    const inOrder = names
      .toSorted((a, b) => a.seat - b.seat)
      .sort((a, b) => a.streamId.localeCompare(b.streamId));
    const columns = ['stream_id text', 'seat integer', 'name text', 'message_id text'];
    await tx.query(
      `update seats set name = named.name, named_by = named.message_id
       from ${tx.rows('$1', columns)} named
       where seats.stream_id = named.stream_id and seats.seat = named.seat`,
      [
        JSON.stringify(
          inOrder.map(({ streamId, seat, name, messageId }) => [streamId, seat, name, messageId]),
        ),
      ],
    );
  }),
};

import { fileURLToPath } from 'node:url';
import { IncorrectResponse } from '../run/bench.ts';
import { SERVER_CORE, startPinned, waitForOutput } from '../run/pinned.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

const PROGRAM = fileURLToPath(new URL('own-statement.ts', import.meta.url));

/**
 * Measures our statement that records answers, without the service. A row counts as a request.
 * @param database url of a PostgreSQL database; null for a new SQLite database
 * @param rowsPerTransaction rows per transaction
 * @throws IncorrectResponse when a row is missing
 */
export async function measureStatement(
  database: string | null,
  seconds: number,
  rowsPerTransaction: number,
) {
  const folder = temporaryFolder('statement');
  try {
    const urlOrFolder = database ?? folder.path;
    const command = [
      process.execPath,
      PROGRAM,
      urlOrFolder,
      String(seconds),
      String(rowsPerTransaction),
    ];
    const program = startPinned(SERVER_CORE, command);
    const [, outcomeJson = ''] = await waitForOutput(program, /^outcome (.*)\n/m);
    await program.child.exited;
    const outcome: { insertedRows: number; sentRows: number; seconds: number } =
      JSON.parse(outcomeJson);
    if (outcome.insertedRows !== outcome.sentRows)
      throw new IncorrectResponse(`${urlOrFolder}: rows are missing`);
    return { 'requests/s': outcome.insertedRows / outcome.seconds };
  } finally {
    folder.remove();
  }
}

/** What is to be done about an error of PostgreSQL or of a connection to it. */
export type Remedy =
  /** The connection is gone, or of no use any more: a new one may do. */
  | 'reconnect'
  /** Transactions met; the same again, alone, will do. */
  | 'again'
  /** It waited longer than it may. */
  | 'too slow'
  /** Nothing: the statement is wrong, a disk is full. */
  | 'none';

const REMEDIES: Readonly<Record<string, Remedy>> = {
  '40001': 'again', // serialization failure
  '40P01': 'again', // deadlock
  '23505': 'again', // both found a key free; the second run finds it taken, and decides by that
  '55P03': 'again', // lock_timeout: the way out of a deadlock that PostgreSQL has not seen yet
  '57014': 'too slow', // statement_timeout
  '25006': 'reconnect', // the server became a replica
  '25P03': 'reconnect', // idle_in_transaction_session_timeout: this process was stalled
  '0A000': 'reconnect', // a migration changed what a prepared statement gives
  '26000': 'reconnect', // the prepared statement is gone
  '53300': 'reconnect', // too many connections
};

const FATAL = new Set(['FATAL', 'PANIC']);

/**
 * What an error calls for that came by a connection which is still there. One without an SQLSTATE or
 * a system's code is a defect of ours: the same again would be the same.
 */
export function remedyOf(error: unknown): Remedy {
  const { code, severity } = error as { code?: unknown; severity?: string };
  if (!isSqlState(code)) return isOfSystem(code) ? 'reconnect' : 'none';
  if (FATAL.has(severity ?? '') || code.startsWith('08')) return 'reconnect';
  return REMEDIES[code] ?? 'none';
}

// ECONNRESET, EPIPE …; those of the runtime are ERR_INVALID_ARG_TYPE and the like.
function isOfSystem(code: unknown): boolean {
  return typeof code === 'string' && /^E[A-Z]+$/.test(code);
}

/** Whether somebody must change a setting before it can work: waiting does not help (N-2). */
export function needsOperator(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  // TLS errors have codes of their own: CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT …
  if (typeof code === 'string' && /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code)) return true;
  if (/SSL connection/.test(message ?? '')) return true;
  // Wrong password or user, no such database, and whatever a statement is refused for.
  return isSqlState(code) && /^(?:28|3D|42|0A|22)/.test(code);
}

function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

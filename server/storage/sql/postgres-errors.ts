/** How to handle an error of PostgreSQL or of a connection to it. */
export type Remedy =
  /** The connection is lost or no longer usable; a new one may work. */
  | 'reconnect'
  /** Concurrent transactions conflicted; the same transaction can succeed on a retry. */
  | 'retry'
  | 'timeout'
  /** A retry does not help: the statement is wrong, or the disk is full. */
  | 'none';

const READ_ONLY_TRANSACTION = '25006';

const REMEDIES: Readonly<Record<string, Remedy>> = {
  '40001': 'retry', // serialization failure
  '40P01': 'retry', // deadlock
  '23505': 'retry', // unique violation: two transactions inserted one key; the retry finds it
  '23503': 'retry', // foreign key violation: one transaction added a row that refers to one being removed
  '55P03': 'retry', // lock_timeout: ends a deadlock before PostgreSQL detects it
  '57014': 'timeout', // statement_timeout
  [READ_ONLY_TRANSACTION]: 'reconnect',
  '25P03': 'reconnect', // idle_in_transaction_session_timeout: this process was stalled
  '0A000': 'reconnect', // a migration changed the result type of a prepared statement
  '26000': 'reconnect', // the prepared statement is gone
  '53300': 'reconnect', // too many connections
};

const FATAL = new Set(['FATAL', 'PANIC']);

/**
 * The remedy for an error on a connection that is still open. An error without an SQLSTATE or a system
 * error code is a defect of this program, which a retry does not solve.
 */
export function remedyOf(error: unknown): Remedy {
  const { code, severity } = error as { code?: unknown; severity?: string };
  if (!isSqlState(code)) return isSystemCode(code) ? 'reconnect' : 'none';
  if (FATAL.has(severity ?? '') || code.startsWith('08')) return 'reconnect';
  return REMEDIES[code] ?? 'none';
}

/** Whether the server refused a write, because it became read-only or a replica. */
export function isReadOnly(error: unknown): boolean {
  return (error as { code?: unknown }).code === READ_ONLY_TRANSACTION;
}

// ECONNRESET, EPIPE …; error codes of the runtime look like ERR_INVALID_ARG_TYPE.
function isSystemCode(code: unknown): boolean {
  return typeof code === 'string' && /^E[A-Z]+$/.test(code);
}

/** Whether the operator must change a setting: waiting does not help (N-2). */
export function needsOperator(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  // TLS errors have codes of their own: CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT …
  if (typeof code === 'string' && /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code)) return true;
  if (/SSL connection/.test(message ?? '')) return true;
  // Wrong password or user, no such database, missing permission, unsupported feature, bad encoding.
  return isSqlState(code) && /^(?:28|3D|42|0A|22)/.test(code);
}

function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

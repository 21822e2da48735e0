import { expect, test } from 'bun:test';
import { needsOperator, remedyOf } from './postgres-errors.ts';

const error = (code: string, severity = 'ERROR') =>
  Object.assign(new Error('reason'), { code, severity });

test.each([
  ['40P01', 'ERROR', 'retry'],
  ['40001', 'ERROR', 'retry'],
  ['23505', 'ERROR', 'retry'],
  ['23503', 'ERROR', 'retry'],
  ['55P03', 'ERROR', 'retry'],
  ['57014', 'ERROR', 'timeout'],
  ['57P01', 'FATAL', 'reconnect'],
  ['57P03', 'FATAL', 'reconnect'],
  ['08006', 'ERROR', 'reconnect'],
  ['25006', 'ERROR', 'reconnect'],
  ['ECONNRESET', '', 'reconnect'],
  ['EPIPE', '', 'reconnect'],
  ['42601', 'ERROR', 'none'],
  ['53100', 'ERROR', 'none'],
  ['', '', 'none'],
  ['ERR_INVALID_ARG_TYPE', '', 'none'],
] as const)('[N-19] the remedy for %s (%s) is: %s', (code, severity, remedy) => {
  expect(remedyOf(error(code, severity))).toBe(remedy);
});

test.each([
  ['28P01', true],
  ['3D000', true],
  ['42501', true],
  ['CERT_HAS_EXPIRED', true],
  ['ECONNREFUSED', false],
  ['ENOTFOUND', false],
  ['57P03', false],
  ['53300', false],
] as const)('[N-2] %s needs an operator: %p', (code, needed) => {
  expect(needsOperator(error(code))).toBe(needed);
});

import { expect, test } from 'bun:test';
import { stopSignals } from './stop-signal.ts';

test('[O-11] SIGHUP stops a command on a terminal, and keeps its default elsewhere, as nohup needs', () => {
  expect(stopSignals(true)).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP']);
  expect(stopSignals(false)).toEqual(['SIGINT', 'SIGTERM']);
});

import { expect, test } from 'bun:test';
import { ForeignSealings } from './foreign-sealings.ts';

function setUp() {
  const state = { nowMs: 0, dataSet: 'first' };
  const errors: string[] = [];
  const sealings = new ForeignSealings({
    dataSetName: () => state.dataSet,
    nowMs: () => state.nowMs,
    logger: { error: (_, message) => void errors.push(message) },
  });
  const note = (count: number, dataSet: string | undefined, everyMs = 250) => {
    for (let noted = 0; noted < count; noted++) {
      state.nowMs += everyMs;
      sealings.note(dataSet);
    }
  };
  return { state, errors, note };
}

test('[N-23] eight intervals that were sealed with another Redis within a minute are logged as an error, once', () => {
  const { errors, note } = setUp();
  note(7, 'second');
  expect(errors).toEqual([]);
  note(100, 'second');
  expect(errors).toEqual([expect.stringContaining('the same --redis')]);
});

test('[N-23] intervals that were sealed with the same Redis, or without any, are not logged', () => {
  const { errors, note } = setUp();
  note(100, 'first');
  note(100, undefined);
  expect(errors).toEqual([]);
});

test('[N-23] intervals that were sealed during failovers of Redis are not logged', () => {
  const { state, errors, note } = setUp();
  for (let failover = 0; failover < 20; failover++) {
    note(2, `after ${failover}`);
    state.dataSet = `after ${failover}`;
    note(10, state.dataSet, 2_000);
  }
  expect(errors).toEqual([]);
});

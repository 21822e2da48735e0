import { expect } from 'bun:test';
import { expectJson, newViewer } from './harness.ts';
import { fourbeat, type ProgramResult } from './program.ts';

/** Creates an account by `fourbeat account create`. */
export async function createAccount(directory: string, email: string) {
  const result = await fourbeat([
    ...['account', 'create', '--email', email],
    ...['--name', 'Ann', '--data', directory],
  ]);
  return parseOutput<{ uuid: string; token: string }>(result, directory);
}

/**
 * Parses the JSON object that a command printed.
 * @param location data directory that the command must report on standard error; null: no report
 */
export function parseOutput<T>(
  { status, stdout, stderr }: ProgramResult,
  location: string | null = null,
): T {
  const expectedError = location === null ? '' : `fourbeat: saved in the database in ${location}\n`;
  expect([status, stderr]).toEqual([0, expectedError]);
  expect(stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(stdout);
}

/** Expects that a command failed with one line and without a stack trace. @returns the line */
export function expectFailure({ status, stdout, stderr }: ProgramResult, expected = 1): string {
  expect(stderr.trimEnd()).toMatch(/^fourbeat: [^\n]+$/);
  expect([status, stdout]).toEqual([expected, '']);
  return stderr;
}

/** Requests the profile of the account of a token. */
export function requestProfile(url: string, token: string): Promise<Response> {
  return fetch(`${url}/api/v1/users/me`, { headers: { Authorization: `Token ${token}` } });
}

export async function createStream(url: string, token: string): Promise<string> {
  const response = await fetch(`${url}/studio/v1/streams`, {
    method: 'POST',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'A show' }),
  });
  return (await expectJson<{ id: string }>(response, 201)).id;
}

export async function viewerToken(
  url: string,
  streamId: string,
  identifier = 'bob',
): Promise<string> {
  return (await newViewer(url, streamId, identifier)).token;
}

export async function currentInterval(url: string): Promise<number> {
  return (await expectJson<{ interval: number }>(await fetch(`${url}/api/v1/time`), 200)).interval;
}

/** Repeats a request until its response is the expected one; the timeout of the test bounds it. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(20);
}

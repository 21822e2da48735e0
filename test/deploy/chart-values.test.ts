import { describe, expect, test } from 'bun:test';
import { ROLES } from '../../protocol/operation.ts';
import { ALL, defaults, isValid, merged, NEEDED, schema } from '../support/deploy/chart.ts';

describe('the schema of the values', () => {
  test.each([
    ['the defaults', {}],
    ['the least', NEEDED],
    ['everything', ALL],
  ])('takes %s', (_, values) => {
    isValid(merged(defaults, values));
    expect(isValid.errors).toBeNull();
  });

  test.each([
    ['a value that there is none of', { replicas: 3 }],
    ['an address that is none', { database: { url: 'mysql://db/x' } }],
    ['a setting that is no variable of the program', { settings: { LOG_LEVEL: 'info' } }],
    ['a setting that has a value of its own', { settings: { FOURBEAT_REDIS: 'redis://x' } }],
    ['a setting that is no text', { settings: { FOURBEAT_TRUST_PROXY: true } }],
    ['a role that there is none of', { groups: [{ ...ALL.groups[0], roles: 'api,chat' }] }],
    ['threads by their variable, which groups differ in', { settings: { FOURBEAT_WORKERS: '2' } }],
    ['no thread', { workers: 0 }],
    ['more threads than the program takes', { groups: [{ ...ALL.groups[0], workers: 65 }] }],
    ['no group at all', { groups: [] }],
    ['less time than a drain takes', { terminationGracePeriodSeconds: 5 }],
  ])('refuses %s', (_, values) => {
    expect(isValid(merged(defaults, values))).toBe(false);
  });

  test('[O-2] knows the roles of the program, and only those', () => {
    const pattern = new RegExp(schema.properties.groups.items.properties.roles.pattern);
    for (const role of ['all', ...ROLES, ROLES.join(',')]) expect(role).toMatch(pattern);
  });
});

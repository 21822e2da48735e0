import { describe, expect, test } from 'bun:test';
import { ROLES } from '../../protocol/operation.ts';
import { ALL, defaults, isValid, merged, NEEDED, schema } from '../support/deploy/chart.ts';

describe('the schema of the chart values', () => {
  test.each([
    ['the default values', {}],
    ['the required values', NEEDED],
    ['all values', ALL],
  ])('the schema accepts %s', (_, values) => {
    isValid(merged(defaults, values));
    expect(isValid.errors).toBeNull();
  });

  test.each([
    ['an unknown value', { replicas: 3 }],
    ['a url of another database', { database: { url: 'mysql://db/x' } }],
    ['a setting that is no variable of the program', { settings: { LOG_LEVEL: 'info' } }],
    ['a setting that has a chart value of its own', { settings: { FOURBEAT_REDIS: 'redis://x' } }],
    ['a setting that is not a string', { settings: { FOURBEAT_TRUST_PROXY: true } }],
    ['an unknown role', { groups: [{ ...ALL.groups[0], roles: 'api,chat' }] }],
    ['workers as a setting, since groups differ in them', { settings: { FOURBEAT_WORKERS: '2' } }],
    ['zero workers', { workers: 0 }],
    ['more workers than the program accepts', { groups: [{ ...ALL.groups[0], workers: 65 }] }],
    ['an empty list of groups', { groups: [] }],
    ['a grace period that is shorter than a drain', { terminationGracePeriodSeconds: 5 }],
  ])('the schema rejects %s', (_, values) => {
    expect(isValid(merged(defaults, values))).toBe(false);
  });

  test('[O-2] the schema accepts each role of the program', () => {
    const pattern = new RegExp(schema.properties.groups.items.properties.roles.pattern);
    for (const role of ['all', ...ROLES, ROLES.join(',')]) expect(role).toMatch(pattern);
  });
});

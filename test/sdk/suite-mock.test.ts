import { beforeAll, expect, test } from 'bun:test';
import { join } from '../../sdk/index.ts';
import { mockService } from '../../sdk/mock/mock-service.ts';
import { pictureOf } from '../../sdk/pictures.ts';
import { runSuite, SUITE, type SuiteFixture, type SuiteResult } from '../support/sdk/suite.ts';

// The suite with the mock service, so that apps can rely on it in their tests.

let results: SuiteResult[];
beforeAll(async () => {
  results = await runSuite(async () => mockFixture());
}, 60_000);

test.each(Object.keys(SUITE))('with the mock service: %s', (title) => {
  expect(results.find((result) => result.title === title)?.error).toBeNull();
});

function mockFixture(): SuiteFixture {
  const service = mockService();
  const { streamId, fetch } = service;
  service.setStatus('CREATED');
  return {
    join,
    pictureOf,
    options: { baseUrl: 'https://mock.example', streamId, viewerId: '', environment: { fetch } },
    openQuiz: async (quiz) => {
      service.openQuiz(quiz);
    },
    publish: async (type, data) => {
      if (type === 'purchase')
        service.sendMessage('purchase', String(data.text), String(data.name));
      else if (type === 'discount') service.sendDiscounts(Number(data.count));
      else service.publish(type, data);
    },
    requestWinners: async () => service.requestWinners(),
    end: async () => service.setStatus('ENDED'),
  };
}

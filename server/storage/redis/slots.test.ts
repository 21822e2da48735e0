import { describe, expect, test } from 'bun:test';
import { type ClusterView, newestView, parseClusterView, parseRedirection } from './slots.ts';

const RESPONDER = { host: '10.0.0.9', port: 7000 };
const bytes = (text: string) => Buffer.from(text);

describe('[N-15] the view of a cluster server', () => {
  test('the view of a cluster server contains the owners of the slots and the state of the cluster', () => {
    const slots = [
      [0, 8191, [bytes('10.0.0.1'), 7001, bytes('id'), []], [bytes('10.0.0.3'), 7003, bytes('id')]],
      [8192, 16_383, [bytes('10.0.0.2'), 7002, bytes('id')]],
    ];
    const info = bytes('cluster_state:ok\r\ncluster_current_epoch:6\r\n');
    expect(parseClusterView(slots, info, RESPONDER)).toEqual({
      ranges: [
        { from: 0, to: 8191, owner: { host: '10.0.0.1', port: 7001 } },
        { from: 8192, to: 16_383, owner: { host: '10.0.0.2', port: 7002 } },
      ],
      epoch: 6,
      error: null,
    });
  });

  test.each([[null], [bytes('')], [bytes('?')]])(
    'the view of a cluster server with the host %p refers to the server that replied',
    (host) => {
      const view = parseClusterView([[0, 1, [host, 7001, bytes('id')]]], bytes(''), RESPONDER);
      expect(view.ranges).toEqual([{ from: 0, to: 1, owner: { host: '10.0.0.9', port: 7001 } }]);
    },
  );

  test('the view of a cluster server has an error when the cluster serves no keys', () => {
    const view = parseClusterView([], bytes('cluster_state:fail\r\n'), RESPONDER);
    expect(view.error).toContain('CLUSTERDOWN');
  });

  test('the view of a cluster server is preferred when it has no error, then by its epoch', () => {
    const view = (epoch: number, error: string | null): ClusterView => {
      return { ranges: [], epoch, error };
    };
    const views = [view(5, null), view(7, null), view(9, 'down'), view(6, null)];
    expect(newestView(views)).toEqual(view(7, null));
    expect(newestView([view(1, 'down'), view(2, 'down')])).toEqual(view(2, 'down'));
    expect(newestView([])).toBeNull();
  });
});

describe('[N-15] a redirection', () => {
  const to = { host: '10.0.0.1', port: 7001 };
  test.each([
    ['MOVED 3999 10.0.0.1:7001', { slot: 3999, to, isAsking: false }],
    ['ASK 1 10.0.0.1:7001', { slot: 1, to, isAsking: true }],
    ['MOVED 1 :7001', { slot: 1, to: { host: '10.0.0.9', port: 7001 }, isAsking: false }],
    ['MOVED 1 fd00::1:7001', { slot: 1, to: { host: 'fd00::1', port: 7001 }, isAsking: false }],
    ['ERR Function not found', null],
  ])('%s', (message, expected) => {
    expect(parseRedirection(message, RESPONDER)).toEqual(expected);
  });
});

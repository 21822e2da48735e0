import { describe, expect, test } from 'bun:test';
import { type ClusterView, clusterView, newestView, parseRedirection } from './slots.ts';

const ASKED = { host: '10.0.0.9', port: 7000 };
const bytes = (text: string) => Buffer.from(text);

describe('[N-15] what a server of a cluster says', () => {
  test('is who has which slots, and whether all is well', () => {
    const slots = [
      [0, 8191, [bytes('10.0.0.1'), 7001, bytes('id'), []], [bytes('10.0.0.3'), 7003, bytes('id')]],
      [8192, 16_383, [bytes('10.0.0.2'), 7002, bytes('id')]],
    ];
    const info = bytes('cluster_state:ok\r\ncluster_current_epoch:6\r\n');
    expect(clusterView(slots, info, ASKED)).toEqual({
      ranges: [
        { from: 0, to: 8191, owner: { host: '10.0.0.1', port: 7001 } },
        { from: 8192, to: 16_383, owner: { host: '10.0.0.2', port: 7002 } },
      ],
      epoch: 6,
      trouble: null,
    });
  });

  test.each([[null], [bytes('')], [bytes('?')]])('with the host %p means the one asked', (host) => {
    const view = clusterView([[0, 1, [host, 7001, bytes('id')]]], bytes(''), ASKED);
    expect(view.ranges).toEqual([{ from: 0, to: 1, owner: { host: '10.0.0.9', port: 7001 } }]);
  });

  test('is trouble when the cluster serves no keys', () => {
    const view = clusterView([], bytes('cluster_state:fail\r\n'), ASKED);
    expect(view.trouble).toContain('CLUSTERDOWN');
  });

  test('counts by its epoch, and before all by whether it is well', () => {
    const view = (epoch: number, trouble: string | null): ClusterView => {
      return { ranges: [], epoch, trouble };
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
    expect(parseRedirection(message, ASKED)).toEqual(expected);
  });
});

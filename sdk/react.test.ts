import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { act, createElement, useEffect } from 'react';
import type { Root } from 'react-dom/client';
import type { JoinOptions } from './join-options.ts';
import { type MockService, mockService } from './mock/mock-service.ts';
import { useRemainingMs, useSnapshot, useViewer } from './react.ts';
import type { Snapshot, Viewer } from './viewer.ts';

// A page for components that show nothing: as much of it as React needs for them.
const page = { nodeType: 9, addEventListener: () => {} };
const container = {
  nodeType: 1,
  nodeName: 'DIV',
  tagName: 'DIV',
  namespaceURI: 'http://www.w3.org/1999/xhtml',
  ownerDocument: page,
  textContent: '',
  addEventListener: () => {},
};
const globals = globalThis as Record<string, unknown>;

/** What the hooks gave when the component was rendered last. */
interface Seen {
  viewer: Viewer | null;
  snapshot: Snapshot | null;
  remainingMs: number;
}

let root: Root;
let service: MockService;
let seen: Seen;
const joined = new Set<Viewer>();

beforeAll(async () => {
  globals.window = { HTMLIFrameElement: class {} };
  globals.IS_REACT_ACT_ENVIRONMENT = true;
});
afterAll(() => {
  delete globals.window;
  delete globals.IS_REACT_ACT_ENVIRONMENT;
});
beforeEach(async () => {
  const { createRoot } = await import('react-dom/client');
  root = createRoot(container as unknown as Element);
  service = mockService();
  joined.clear();
});

function Watching({ options }: { options: JoinOptions | null }) {
  const viewer = useViewer(options);
  const snapshot = useSnapshot(viewer);
  const remainingMs = useRemainingMs(viewer, 50);
  useEffect(() => {
    seen = { viewer, snapshot, remainingMs };
    if (viewer) joined.add(viewer);
  });
  return null;
}

function optionsOf(more: object = {}): JoinOptions {
  return {
    baseUrl: 'https://live.example',
    streamId: service.streamId,
    viewerId: 'ada',
    environment: { fetch: service.fetch },
    ...more,
  };
}

afterEach(async () => {
  await act(async () => root.unmount());
});

async function render(options: JoinOptions | null): Promise<void> {
  await act(async () => root.render(createElement(Watching, { options })));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
}

describe('useViewer', () => {
  test('joins, and leaves with the component', async () => {
    await render(null);
    expect(seen.viewer).toBeNull();
    expect(seen.snapshot).toBeNull();
    await render(optionsOf());
    const { viewer } = seen;
    expect(viewer?.streamId).toBe(service.streamId);
    expect(viewer?.state).not.toBe('ended');
    await act(async () => root.unmount());
    expect(viewer?.state).toBe('ended');
  });

  test('joins anew for another viewer, and not for options that are merely made anew', async () => {
    await render(optionsOf({ getToken: async () => 'one' }));
    const { viewer } = seen;
    await render(optionsOf({ getToken: async () => 'two' }));
    expect(seen.viewer).toBe(viewer);
    expect(joined.size).toBe(1);
    await render(optionsOf({ viewerId: 'grace' }));
    expect(joined.size).toBe(2);
    expect(viewer?.state).toBe('ended');
    expect(seen.viewer?.state).not.toBe('ended');
    await render(null);
    expect([...joined].map(({ state }) => state)).toEqual(['ended', 'ended']);
    expect(seen.viewer).toBeNull();
  });

  test('asks the newest getToken, and takes over a new name', async () => {
    const asked: string[] = [];
    const getToken = (name: string) => async () => {
      asked.push(name);
      return 'nonsense';
    };
    await render(optionsOf({ name: 'Ada', getToken: getToken('first') }));
    expect(seen.viewer?.name).toBe('Ada');
    expect(new Set(asked)).toEqual(new Set(['first']));
    asked.length = 0;
    await render(optionsOf({ name: 'Countess', getToken: getToken('second') }));
    expect(seen.viewer?.name).toBe('Countess');
    await until(() => asked.length > 0);
    expect(asked[0]).toBe('second');
  });
});

describe('useSnapshot', () => {
  test('renders again with what is new', async () => {
    await render(optionsOf());
    await until(() => seen.snapshot?.state === 'live');
    service.say('message', 'Hello');
    await until(() => seen.snapshot?.lines.length === 1);
    expect(seen.snapshot).toBe(seen.viewer?.snapshot ?? null);
  });
});

describe('useRemainingMs', () => {
  test('counts down while a quiz is open, and is 0 else', async () => {
    await render(optionsOf());
    await until(() => seen.snapshot?.state === 'live');
    expect(seen.remainingMs).toBe(0);
    service.openQuiz({ choices: ['Mars', 'Jupiter'], answer: 'Jupiter', durationMs: 1_500 });
    await until(() => seen.remainingMs > 0);
    const firstMs = seen.remainingMs;
    expect(firstMs).toBeLessThan(1_500);
    await until(() => seen.remainingMs < firstMs - 200);
    await until(() => seen.snapshot?.quiz?.results !== null);
    expect(seen.remainingMs).toBe(0);
  });
});

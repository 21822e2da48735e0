import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { pauseRequests } from '../api/request-pause.ts';
import { useStudio } from '../api/studio-context.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { EndShow } from '../streams/end-show.tsx';
import { StreamPage } from '../streams/stream-page.tsx';
import { useExternalStore } from '../ui/external-store.ts';
import { Loaded } from '../ui/states.tsx';
import { AudiencePanel, CountPanel } from './audience-panel.tsx';
import { ChatPanel } from './chat/chat-panel.tsx';
import { ConnectionStatus } from './connection-status.tsx';
import { LiveShow, type LiveSnapshot } from './live-show.ts';
import { liveShowEnvironment } from './live-show-environment.ts';
import { NextPanel } from './next-panel.tsx';
import { OffersPanel } from './offers/offers-panel.tsx';
import { OnScreenPanel } from './on-screen-panel.tsx';
import { RundownPanel } from './rundown-panel.tsx';
import { SentPanel } from './sent-panel.tsx';
import { ShortcutsHelp } from './shortcuts-help.tsx';
import { texts } from './texts.ts';
import { VideoPanel } from './video-panel.tsx';

/** The page to run a live show: what viewers see, the audience, the chat and the next step. */
export function OnAirPage({ streamId }: { readonly streamId: string }) {
  const live = useLiveShow(streamId);
  const quizzes = useApiQuery(
    'listQuizzes',
    { params: { stream_id: streamId } },
    { revision: live.state?.rundownRevision },
  );
  return (
    <StreamPage
      streamId={streamId}
      actions={(stream) => (
        <>
          {/* Phones have no keyboard, and need the room for the title. */}
          <div className="hidden sm:block">
            <ShortcutsHelp />
          </div>
          <EndShow stream={stream} />
        </>
      )}
      below={live.state && <Below state={live.state} live={live} />}
    >
      {() => (
        <>
          <ConnectionStatus isConnected={live.isConnected} isInitial={live.state === null} />
          <Loaded query={quizzes} label={texts.page.loading}>
            {({ results }) => <Stage live={live} quizzes={results} />}
          </Loaded>
        </>
      )}
    </StreamPage>
  );
}

/** What a host needs for the next minute. */
function Stage({ live, quizzes }: { live: LiveSnapshot; quizzes: readonly StudioQuiz[] }) {
  const { state, log, isConnected } = live;
  if (!state) return null;
  return (
    <div className="on-air-stage min-h-0 flex-1 pt-2 lg:pt-3">
      <VideoPanel state={state} />
      <CountPanel state={state} isConnected={isConnected} log={log} />
      <OnScreenPanel state={state} />
      <NextPanel state={state} quizzes={quizzes} isConnected={isConnected} />
      <RundownPanel state={state} quizzes={quizzes} />
      <ChatPanel state={state} log={log} />
    </div>
  );
}

/** What can wait. */
function Below({ state, live }: { readonly state: LiveState; readonly live: LiveSnapshot }) {
  const { log, isConnected } = live;
  return (
    <div className="grid items-start gap-3 *:min-w-0 lg:grid-cols-2 min-[90rem]:grid-cols-3">
      <AudiencePanel streamId={state.stream.id} log={log} />
      <SentPanel streamId={state.stream.id} log={log} />
      <OffersPanel state={state} log={log} isConnected={isConnected} />
    </div>
  );
}

/** How often a page without a connection checks whether its session has ended. */
const SESSION_CHECK_MS = 10_000;

/** Follows a live show while the page is mounted. Other requests pause while the connection is lost. */
function useLiveShow(streamId: string): LiveSnapshot {
  const queries = useQueryClient();
  const show = useMemo(() => {
    // The service ends the connection when the role of the member changes (SPEC B-5).
    const readSession = () => void queries.invalidateQueries({ queryKey: ['readSession'] });
    return new LiveShow(liveShowEnvironment(streamId), readSession);
  }, [streamId, queries]);
  useEffect(() => show.start(), [show]);
  const live = useExternalStore(show);
  const isLost = live.state !== null && !live.isConnected;
  useEffect(() => (isLost ? pauseRequests(queries) : undefined), [isLost, queries]);
  const { isConnected } = live;
  const studio = useStudio();
  useEffect(() => {
    if (isConnected) return;
    // An event stream gives no status. The client reports an ended session.
    const check = () => void studio.call('readSession').catch(() => {});
    const timer = setInterval(check, SESSION_CHECK_MS);
    return () => clearInterval(timer);
  }, [isConnected, studio]);
  return live;
}

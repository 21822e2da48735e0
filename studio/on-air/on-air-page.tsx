import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { pauseRequests } from '../api/request-pause.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { EndShow } from '../streams/end-show.tsx';
import { StreamPage } from '../streams/stream-page.tsx';
import { classes } from '../ui/classes.ts';
import { useExternalStore } from '../ui/external-store.ts';
import { Loaded } from '../ui/states.tsx';
import { AudiencePanel } from './audience-panel.tsx';
import { ChatPanel } from './chat/chat-panel.tsx';
import { ConnectionStatus } from './connection-status.tsx';
import { LiveShow, type LiveSnapshot } from './live-show.ts';
import { liveShowEnvironment } from './live-show-environment.ts';
import { NextPanel } from './next-panel.tsx';
import { OffersPanel } from './offers/offers-panel.tsx';
import { OnScreenPanel } from './on-screen-panel.tsx';
import { SentPanel } from './sent-panel.tsx';
import { ShortcutsHelp } from './shortcuts-help.tsx';
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
          <ShortcutsHelp />
          <EndShow stream={stream} />
        </>
      )}
    >
      {() => (
        <>
          <ConnectionStatus isConnected={live.isConnected} isInitial={live.state === null} />
          <Loaded query={quizzes} label="Loading quizzes">
            {({ results }) => <Panels live={live} quizzes={results} />}
          </Loaded>
        </>
      )}
    </StreamPage>
  );
}

function Panels({ live, quizzes }: { live: LiveSnapshot; quizzes: readonly StudioQuiz[] }) {
  const { state, log, isConnected } = live;
  const mayPublish = usePermission('publishQuiz');
  if (!state) return null;
  return (
    <div className="grid items-start gap-4 *:min-w-0 lg:grid-cols-[3fr_2fr] min-[90rem]:grid-cols-3">
      <div className="grid gap-4 *:min-w-0 order-3 lg:order-none">
        <VideoPanel state={state} />
        <AudiencePanel
          streamId={state.stream.id}
          count={isConnected ? state.count : null}
          log={log}
        />
        <OffersPanel state={state} log={log} isConnected={isConnected} />
      </div>
      <div className="grid gap-4 *:min-w-0 order-1 lg:order-none">
        <NextPanel state={state} quizzes={quizzes} isConnected={isConnected} />
        <OnScreenPanel state={state} />
        <SentPanel streamId={state.stream.id} log={log} />
      </div>
      <div
        className={classes(
          'grid gap-4 *:min-w-0 lg:col-span-2 min-[90rem]:col-span-1',
          // Moderators see the chat first on narrow screens.
          mayPublish ? 'order-2 lg:order-none' : 'order-first',
        )}
      >
        <ChatPanel state={state} log={log} />
      </div>
    </div>
  );
}

/** Follows a live show while the page is mounted. Other requests pause while the connection is lost. */
function useLiveShow(streamId: string): LiveSnapshot {
  const show = useMemo(() => new LiveShow(liveShowEnvironment(streamId)), [streamId]);
  const queries = useQueryClient();
  useEffect(() => show.start(), [show]);
  const live = useExternalStore(show);
  const isLost = live.state !== null && !live.isConnected;
  useEffect(() => (isLost ? pauseRequests(queries) : undefined), [isLost, queries]);
  return live;
}

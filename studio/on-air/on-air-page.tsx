import type { StudioQuiz } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useMay } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { classes } from '../ui/classes.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { AudiencePanel } from './audience-panel.tsx';
import { ChatPanel } from './chat/chat-panel.tsx';
import { LineState } from './line-state.tsx';
import type { LiveSnapshot } from './live-show.ts';
import { NextPanel } from './next-panel.tsx';
import { OffersPanel } from './offers/offers-panel.tsx';
import { OnScreenPanel } from './on-screen-panel.tsx';
import { PicturePanel } from './picture-panel.tsx';
import { SentPanel } from './sent-panel.tsx';
import { ShortcutsHelp } from './shortcuts-help.tsx';
import { useLiveShow } from './use-live-show.ts';

/** The page that is open during the show: what viewers see, how many, and what comes next. */
export function OnAirPage({ streamId }: { readonly streamId: string }) {
  const live = useLiveShow(streamId);
  const quizzes = useRead(
    'listQuizzes',
    { params: { stream_id: streamId } },
    { revision: live.state?.rundownRevision },
  );
  return (
    <StreamPage streamId={streamId} actions={() => <ShortcutsHelp />}>
      {() => (
        <>
          <LineState isHeard={live.isHeard} isFirst={live.state === null} />
          {quizzes.isPending && <Loading what="Looking for the quizzes" />}
          {quizzes.isError && !quizzes.data && (
            <Failure error={quizzes.error} onAgain={() => quizzes.refetch()} />
          )}
          {quizzes.data && <Panels live={live} quizzes={quizzes.data.results} />}
        </>
      )}
    </StreamPage>
  );
}

interface PanelsProps {
  readonly live: LiveSnapshot;
  readonly quizzes: readonly StudioQuiz[];
}

function Panels({ live, quizzes }: PanelsProps) {
  const { state, record, isHeard } = live;
  const mayPublish = useMay('publishQuiz');
  if (!state) return null;
  return (
    <div className="grid items-start gap-4 *:min-w-0 lg:grid-cols-[3fr_2fr] min-[90rem]:grid-cols-3">
      <div className="grid gap-4 *:min-w-0 order-3 lg:order-none">
        <PicturePanel {...state} />
        <AudiencePanel
          streamId={state.stream.id}
          count={isHeard ? state.count : null}
          record={record}
        />
        <OffersPanel state={state} record={record} isHeard={isHeard} />
      </div>
      <div className="grid gap-4 *:min-w-0 order-1 lg:order-none">
        <NextPanel state={state} quizzes={quizzes} isHeard={isHeard} />
        <OnScreenPanel state={state} />
        <SentPanel streamId={state.stream.id} record={record} />
      </div>
      <div
        className={classes(
          'grid gap-4 *:min-w-0 lg:col-span-2 min-[90rem]:col-span-1',
          // The chat is first for those who are there for it.
          mayPublish ? 'order-2 lg:order-none' : 'order-first',
        )}
      >
        <ChatPanel state={state} record={record} />
      </div>
    </div>
  );
}

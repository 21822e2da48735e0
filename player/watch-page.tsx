import { useEffect, useMemo, useState } from 'react';
import type { ShownShow } from '../protocol/show-page.ts';
import type { Snapshot, Viewer } from '../sdk/viewer.ts';
import { AudiencePanel } from './audience/audience-panel.tsx';
import { useHeartCount } from './audience/heart-count.ts';
import { HeartOverlay } from './audience/heart-overlay.tsx';
import type { ContactApi } from './contact/contact-api.ts';
import { ContactDialog } from './contact/contact-dialog.tsx';
import { ContactRow } from './contact/contact-row.tsx';
import { useContact } from './contact/use-contact.ts';
import { ProductCard } from './product/product-card.tsx';
import { useProduct } from './product/use-product.ts';
import { CodeRow } from './quiz/code-row.tsx';
import { QuizOverlay } from './quiz/quiz-overlay.tsx';
import { useKeptCode } from './quiz/use-kept-code.ts';
import { useShownRound } from './quiz/use-shown-round.ts';
import { useWinnerCode } from './quiz/use-winner-code.ts';
import { useWonAt } from './quiz/use-won-at.ts';
import { ShowHeader } from './show/show-header.tsx';
import { useAccent } from './show/use-accent.ts';
import { useEndedStream } from './show/use-ended-stream.ts';
import { useShow } from './show/use-show.ts';
import { Stage } from './stage/stage.tsx';
import type { StageVideo } from './stage/stage-video.ts';
import { texts } from './texts.ts';

interface WatchPageProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  /** The show as the page had it when it was loaded; null: unknown. */
  readonly show?: ShownShow | null;
  readonly video: StageVideo;
  /** Whether the page has no audience panel, as in an embedded page. */
  readonly isBare: boolean;
  /** Whether the playback stats are open at first. */
  readonly hasStats: boolean;
  /** Where a winner gives its contact details; null: nowhere. */
  readonly contact?: ContactApi | null;
  /** Called when the show goes on after its end. */
  readonly onReopened: () => void;
}

/** The whole page: the stage with its overlays, and the audience panel. */
export function WatchPage(props: WatchPageProps) {
  const { viewer, video, isBare, hasStats } = props;
  const snapshot = useSnapshotWithEnd(props.snapshot, video, props.onReopened);
  const { stream } = snapshot;
  const show = useShow(props.show ?? null, stream !== null && stream.status !== 'CREATED');
  useAccent(show?.color ?? null);
  const hearts = useHeartCount(viewer, snapshot);
  const [isFilled, setIsFilled] = useFilledWindow();
  const { product, close } = useProduct(viewer, snapshot);
  const wonAt = useWonAt(viewer, snapshot);
  const contact = useContact(viewer, snapshot, wonAt > 0, props.contact ?? null);
  const code = useWinnerCode(viewer, snapshot);
  const [round, closeRound] = useShownRound(viewer);
  const [keptCode, hideCode] = useKeptCode({
    streamId: viewer.streamId,
    wonAt,
    code,
    isOnCard: typeof round?.count === 'number' && snapshot.winners.hasWon,
  });
  const rows = (
    <>
      {keptCode !== null && <CodeRow code={keptCode} onClose={hideCode} />}
      {contact.notice !== null && <ContactRow {...contact} />}
      {product && <ProductCard product={product} onClose={close} />}
    </>
  );
  return (
    <main className={isBare ? 'watch watch--bare' : 'watch'}>
      {isBare && <h1 className="unseen">{show?.title ?? texts.watchShow}</h1>}
      <Stage
        viewer={viewer}
        snapshot={snapshot}
        show={show}
        video={video}
        hasCount={isBare}
        hasStats={hasStats}
        isFilled={isFilled}
        // Without the audience panel, the stage has the whole window anyway.
        onFill={isBare ? null : setIsFilled}
      >
        <HeartOverlay hearts={snapshot.hearts} count={hearts} />
        <div className="rows--overlay">{rows}</div>
        <QuizOverlay
          viewer={viewer}
          snapshot={snapshot}
          round={round}
          winnerCode={code}
          onCloseRound={closeRound}
        />
      </Stage>
      {contact.notice !== null && <ContactDialog {...contact} defaultName={viewer.name} />}
      <p className="unseen" role="status">
        {contact.notice ?? (contact.isErased && texts.contact.erased)}
      </p>
      <p className="unseen" role="status">
        {product && texts.product.announcement(product.name)}
      </p>
      {!isBare && (
        <section className="watch-audience" aria-label={texts.audience.label} inert={isFilled}>
          <ShowHeader show={show} />
          {/* A show that is unknown, or not known yet, has no chat. */}
          {snapshot.stream && (
            <AudiencePanel viewer={viewer} snapshot={snapshot} hearts={hearts}>
              {rows}
            </AudiencePanel>
          )}
        </section>
      )}
    </main>
  );
}

/** The snapshot, which says that the show is over as soon as its video is. */
function useSnapshotWithEnd(
  snapshot: Snapshot,
  video: StageVideo,
  onReopened: () => void,
): Snapshot {
  const stream = useEndedStream(snapshot.stream, video, onReopened);
  return useMemo(() => ({ ...snapshot, stream }), [snapshot, stream]);
}

/** Whether the stage fills the window, in place of full screen. Escape ends it. */
function useFilledWindow(): [isFilled: boolean, setIsFilled: (isFilled: boolean) => void] {
  const [isFilled, setIsFilled] = useState(false);
  useEffect(() => {
    if (!isFilled) return;
    const onKeyDown = ({ key, defaultPrevented }: KeyboardEvent) => {
      // Overlays and menus handle Escape first.
      if (key === 'Escape' && !defaultPrevented) setIsFilled(false);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isFilled]);
  return [isFilled, setIsFilled];
}

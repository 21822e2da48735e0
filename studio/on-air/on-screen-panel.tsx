import { useState } from 'react';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { ContactsDialog } from '../contacts/contacts-dialog.tsx';
import { SourceWarnings } from '../source/source-facts.tsx';
import { Badge } from '../ui/badge.tsx';
import { ChoiceBars } from '../ui/choice-bars.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { RoundWinners } from './round-winners.tsx';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';

/**
 * The winners of the last round, or the current or last quiz with live answer counts, which only the
 * producer sees; before the show what is wrong with its source.
 */
export function OnScreenPanel({ state }: { readonly state: LiveState }) {
  const { round, winners } = state;
  const [contactsRoundId, setContactsRoundId] = useState<string | null>(null);
  return (
    <>
      {round?.count && winners.length > 0 ? (
        <RoundWinners
          round={round}
          count={round.count}
          winners={winners}
          onOpenContacts={() => setContactsRoundId(round.id)}
        />
      ) : (
        <CurrentQuiz state={state} />
      )}
      {/* It stays while the next quiz replaces the winners. */}
      {round && (
        <ContactsDialog
          round={round}
          isOpen={contactsRoundId === round.id}
          onOpenChange={() => setContactsRoundId(null)}
        />
      )}
    </>
  );
}

function CurrentQuiz({ state }: { readonly state: LiveState }) {
  const { quiz, tally, now, stream, source } = state;
  if (!quiz) {
    return (
      <StagePanel title={texts.onScreen.title} place="screen">
        <article
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
          tabIndex={0}
          aria-label={texts.onScreen.title}
          className={`min-h-0 overflow-y-auto rounded-lg -outline-offset-3! ${FOCUS_RING}`}
        >
          {stream.status === 'CREATED' && source && <SourceWarnings source={source} />}
          <p className="text-quiet">{texts.onScreen.none}</p>
        </article>
      </StagePanel>
    );
  }
  const counts = tally ?? quiz.counts ?? {};
  const answered = Object.values(counts).reduce((sum, { count }) => sum + count, 0);
  const isOpen = quiz.state === 'open' && state.count !== null;
  return (
    <StagePanel
      title={texts.onScreen.title}
      place="screen"
      header="without title"
      aside={
        <>
          <p className="min-w-0 flex-1 truncate text-sm text-quiet tabular-nums">
            {isOpen
              ? texts.onScreen.answersOf(answered, state.count ?? 0)
              : texts.onScreen.answers(answered)}
          </p>
          <QuizState quiz={quiz} nowMs={now} />
        </>
      }
    >
      <article
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        aria-label={texts.onScreen.quiz}
        className={`grid min-h-0 content-start gap-1 overflow-y-auto rounded-lg -outline-offset-3! *:min-w-0 lg:gap-2 ${FOCUS_RING}`}
      >
        <p
          dir="auto"
          className="line-clamp-1 min-h-[1lh] font-semibold wrap-anywhere lg:line-clamp-none lg:text-lg"
        >
          {quiz.question}
        </p>
        <ChoiceBars choices={quiz.choices} answer={quiz.answer} counts={counts} isCompact />
      </article>
    </StagePanel>
  );
}

function QuizState({ quiz, nowMs }: { readonly quiz: StudioQuiz; readonly nowMs: number }) {
  if (quiz.state === 'open' && quiz.closeInterval !== null) {
    const leftS = Math.max(0, Math.ceil((intervalStartMs(quiz.closeInterval) - nowMs) / 1_000));
    return <Badge variant="live">{texts.onScreen.open(leftS)}</Badge>;
  }
  if (quiz.state === 'closed') return <Badge variant="accent">{texts.onScreen.closed}</Badge>;
  return <Badge variant="good">{texts.onScreen.revealed}</Badge>;
}

import type { WinnersRound } from '../../protocol/studio.ts';
import type { RoundWinner } from '../../protocol/winners.ts';
import { ContactsButton } from '../contacts/contacts-button.tsx';
import { Badge } from '../ui/badge.tsx';
import { FOCUS_RING, VIEWER_WORDS } from '../ui/classes.ts';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';

interface RoundWinnersProps {
  readonly round: WinnersRound;
  readonly count: number;
  /** The first of them. */
  readonly winners: readonly RoundWinner[];
  readonly onOpenContacts: () => void;
}

/** The winners of the last round by name, until a newer quiz is sent. */
export function RoundWinners(props: RoundWinnersProps) {
  const { round, count, winners, onOpenContacts } = props;
  const unlisted = count - winners.length;
  return (
    <StagePanel
      title={texts.onScreen.title}
      place="screen"
      header="without title"
      aside={
        <>
          <p className="min-w-0 flex-1 truncate text-sm text-quiet tabular-nums">
            {texts.onScreen.winners(count)}
          </p>
          <Badge variant="good">{texts.onScreen.winnersShown}</Badge>
        </>
      }
    >
      <article
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        aria-label={texts.onScreen.winnersList}
        className={`min-h-0 overflow-y-auto rounded-lg -outline-offset-3! ${FOCUS_RING}`}
      >
        <div className="pb-2 empty:hidden">
          <ContactsButton round={round} onPress={onOpenContacts} />
        </div>
        <ol className="grid gap-1">
          {winners.map(({ code, name }) => (
            <li key={code} className="flex items-baseline justify-between gap-3">
              <bdi className={`min-w-0 font-semibold ${VIEWER_WORDS}`}>{name ?? code}</bdi>
              {name !== null && (
                <span className="shrink-0 text-sm text-quiet tabular-nums">{code}</span>
              )}
            </li>
          ))}
        </ol>
        {unlisted > 0 && (
          <p className="text-sm text-quiet">{texts.onScreen.moreWinners(unlisted)}</p>
        )}
      </article>
    </StagePanel>
  );
}

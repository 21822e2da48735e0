import { Trophy } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { RoundWinner } from '../../protocol/winners.ts';
import { TextTemplate } from '../ui/text-template.tsx';
import { texts } from './texts.ts';
import { pageOf, repeatedNames, WINNERS_PAGE_MS } from './winner-pages.ts';

interface DisplayWinnersProps {
  readonly count: number;
  /** At least one. */
  readonly winners: readonly RoundWinner[];
}

/** Up to this number of winners, each has a cup. Winners are equal: a round has no ranks. */
const PODIUM_MAX = 3;

/** Up to this number of winners, names have their codes beside them. */
const CODES_MAX = 12;

/** The winners of a round by name: one alone, a few in a list, many page by page. */
export function DisplayWinners({ count, winners }: DisplayWinnersProps) {
  const page = usePage(winners);
  const [only] = winners;
  if (count === 1 && only) return <OnlyWinner winner={only} />;
  const repeated = repeatedNames(winners);
  const unlisted = count - winners.length;
  const isPodium = count <= PODIUM_MAX;
  return (
    <>
      <h1 className="winners-count">
        <TextTemplate text={texts.winners.count}>
          <b>{count.toLocaleString()}</b>
        </TextTemplate>
      </h1>
      <ol
        className="winners-list"
        data-podium={isPodium || undefined}
        data-many={winners.length > 5 || undefined}
        key={page.number}
      >
        {page.winners.map((winner) => (
          <li key={winner.code} className="winner">
            {isPodium && <Trophy />}
            <bdi className={winner.name === null ? 'winner-code-only' : undefined}>
              {winner.name ?? winner.code}
            </bdi>
            {winner.name !== null && (count <= CODES_MAX || repeated.has(winner.name)) && (
              <span className="winner-code" dir="ltr">
                {winner.code}
              </span>
            )}
          </li>
        ))}
      </ol>
      {unlisted > 0 && <p className="winners-more">{texts.winners.more(unlisted)}</p>}
    </>
  );
}

function OnlyWinner({ winner: { name, code } }: { readonly winner: RoundWinner }) {
  return (
    <>
      <Trophy className="winner-cup" />
      <p className="scene-below">{texts.winners.only}</p>
      <h1 className="winner-name" dir="auto">
        {name ?? code}
      </h1>
      {name !== null && <p className="winner-code">{code}</p>}
    </>
  );
}

/** The page of winners to show now. */
function usePage(winners: readonly RoundWinner[]) {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTurn((before) => before + 1), WINNERS_PAGE_MS);
    return () => clearInterval(timer);
  }, []);
  return pageOf(winners, turn);
}

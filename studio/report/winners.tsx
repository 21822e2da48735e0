import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Disclosure, DisclosurePanel, Heading, Button as PlainButton } from 'react-aria-components';
import type { ReadyReport } from '../../protocol/report.ts';
import type { WinnersRound } from '../../protocol/studio.ts';
import { apiErrorOf } from '../api/studio-api-error.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { ContactsButton } from '../contacts/contacts-button.tsx';
import { ContactsDialog } from '../contacts/contacts-dialog.tsx';
import { timeOf } from '../shell/times.ts';
import { FOCUS_RING, VIEWER_WORDS } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { Loaded } from '../ui/states.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { secondsLabel } from './durations.ts';
import { exportUrl } from './exports.ts';
import { firstRows } from './first-rows.ts';
import { texts } from './texts.ts';
import { type Round, type Winner, type WinnerList, winnerListOf } from './winner-list.ts';

/** Winners of all rounds to load; the export has all. */
const LOAD_MAX = 10_000;
const CONTACTS_POLL_MS = 10_000;

interface WinnersProps {
  readonly streamId: string;
  readonly report: Pick<ReadyReport, 'made' | 'rounds'>;
}

export function Winners({ streamId, report }: WinnersProps) {
  const { made, rounds } = report;
  // The report does not change, but winners may be asked, and answer, at any time.
  const current = useApiQuery(
    'listWinnersRounds',
    { params: { stream_id: streamId } },
    { refetchIntervalMs: CONTACTS_POLL_MS },
  ).data?.results;
  return (
    <Panel title={texts.winners.title}>
      {rounds.length === 0 && <p className="text-quiet">{texts.winners.empty}</p>}
      <ol className="grid gap-3">
        {rounds.map((round, index) => (
          <RoundItem
            key={round.id}
            streamId={streamId}
            made={made}
            round={round}
            current={current?.find(({ id }) => id === round.id) ?? null}
            number={index + 1}
          />
        ))}
      </ol>
    </Panel>
  );
}

interface RoundItemProps {
  readonly streamId: string;
  /** When the report was made. */
  readonly made: number;
  readonly round: Round;
  /** The round as it is now; null: not loaded. */
  readonly current: WinnersRound | null;
  readonly number: number;
}

function RoundItem({ current, ...list }: RoundItemProps) {
  const { round, number } = list;
  const { requested, quizzes, count } = round;
  const [isOpen, setOpen] = useState(false);
  const [hasContactsOpen, setContactsOpen] = useState(false);
  return (
    <li className="grid gap-1 border-t border-line pt-3 first:border-0 first:pt-0">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="font-semibold tabular-nums">{texts.winners.count(count)}</span>
        <span className="text-sm text-quiet tabular-nums">
          {texts.winners.round(number, timeOf(requested), quizzes)}
        </span>
      </p>
      {current && (
        <div className="empty:hidden print:hidden">
          <ContactsButton round={current} onPress={() => setContactsOpen(true)} />
          <ContactsDialog round={current} isOpen={hasContactsOpen} onOpenChange={setContactsOpen} />
        </div>
      )}
      {count > 0 && (
        <Disclosure isExpanded={isOpen} onExpandedChange={setOpen}>
          <Heading level={3} className={isOpen ? '' : 'print:hidden'}>
            <PlainButton slot="trigger" className={`min-h-11 underline ${FOCUS_RING}`}>
              {isOpen ? texts.winners.hide : texts.winners.show}
              <span className="sr-only">{texts.winners.roundLabel(number)}</span>
            </PlainButton>
          </Heading>
          <DisclosurePanel>{isOpen && <WinnersList {...list} />}</DisclosurePanel>
        </Disclosure>
      )}
    </li>
  );
}

function WinnersList({ streamId, made, ...rest }: Omit<RoundItemProps, 'current'>) {
  const query = useQuery({
    // A report that is made again after a reopening has further rounds.
    queryKey: ['winners', streamId, made],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readWinners(streamId, signal),
  });
  return (
    <Loaded query={query} label={texts.winners.loading}>
      {({ rows }) => <WinnerRows streamId={streamId} rows={rows} {...rest} />}
    </Loaded>
  );
}

interface WinnerRowsProps extends Pick<RoundItemProps, 'streamId' | 'round' | 'number'> {
  /** The first winners of all rounds. */
  readonly rows: readonly Winner[];
}

function WinnerRows({ rows, ...rest }: WinnerRowsProps) {
  const list = winnerListOf(rows, rest.round);
  const { winners, unlistedCount, hasEarliest } = list;
  return (
    <div className="grid gap-2">
      {!hasEarliest && <Incomplete {...rest} unlistedCount={unlistedCount} />}
      {winners.length > 0 && <WinnerItems {...list} requested={rest.round.requested} />}
      {hasEarliest && unlistedCount > 0 && (
        <p className="text-sm text-quiet">{texts.winners.more(unlistedCount)}</p>
      )}
    </div>
  );
}

type IncompleteProps = Omit<WinnerRowsProps, 'rows'> & Pick<WinnerList, 'unlistedCount'>;

function Incomplete({ streamId, round, number, unlistedCount }: IncompleteProps) {
  return (
    <p className="text-sm">
      <TextTemplate text={texts.winners.incomplete(number, unlistedCount, round.count)}>
        <a
          href={exportUrl('exportWinners', streamId, 'csv')}
          download
          className={`underline ${FOCUS_RING}`}
        >
          {texts.files.download(texts.files.exportWinners.title, 'CSV')}
        </a>
      </TextTemplate>
    </p>
  );
}

type WinnerItemsProps = WinnerList & Pick<Round, 'requested'>;

function WinnerItems({ winners, hasEarliest, requested }: WinnerItemsProps) {
  return (
    <ol
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      aria-label={hasEarliest ? texts.winners.list : texts.winners.partialList}
      className={`grid max-h-72 gap-1 overflow-y-auto text-sm print:max-h-none ${FOCUS_RING}`}
    >
      {winners.map(({ viewer, name, code, at }) => (
        <li key={viewer} className="flex justify-between gap-3">
          <span className={`min-w-0 flex-1 ${VIEWER_WORDS}`} title={viewer}>
            <bdi>{name ?? code}</bdi>
          </span>
          {name !== null && <span className="shrink-0 tabular-nums">{code}</span>}
          <span className="shrink-0 text-quiet tabular-nums">
            {texts.winners.after(secondsLabel(at - requested))}
          </span>
        </li>
      ))}
    </ol>
  );
}

async function readWinners(streamId: string, signal: AbortSignal) {
  const response = await fetch(exportUrl('exportWinners', streamId, 'ndjson'), { signal });
  if (!response.ok || !response.body) {
    throw apiErrorOf(response.status, await response.json().catch(() => null));
  }
  return firstRows<Winner>(response.body, LOAD_MAX);
}

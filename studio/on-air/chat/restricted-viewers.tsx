import type { RestrictedViewer } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/states.tsx';
import { TextTemplate } from '../../ui/text-template.tsx';
import { texts } from './texts.ts';
import type { LoadedList } from './use-chat-state.ts';
import type { Moderation } from './use-moderation.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
/** Entries that are shown; the newest are first. */
const VISIBLE_MAX = 200;

interface RestrictedViewersProps {
  readonly viewers: LoadedList<RestrictedViewer>;
  readonly moderation: Moderation;
}

/** The muted and banned viewers, with a button to lift each restriction. */
export function RestrictedViewers({ viewers, moderation }: RestrictedViewersProps) {
  const { all, loadError } = viewers;
  return (
    <>
      {loadError && <ErrorMessage {...loadError} />}
      {all.length === 0 && !loadError && <p className="text-quiet">{texts.restricted.empty}</p>}
      {all.length > 0 && (
        <ul className="grid gap-2">
          {all.slice(0, VISIBLE_MAX).map((viewer) => (
            <RestrictedItem
              key={`${viewer.kind} ${viewer.viewer}`}
              restricted={viewer}
              moderation={moderation}
            />
          ))}
        </ul>
      )}
      {all.length > VISIBLE_MAX && (
        <p className="text-quiet">{texts.restricted.more(all.length - VISIBLE_MAX)}</p>
      )}
    </>
  );
}

interface RestrictedItemProps {
  readonly restricted: RestrictedViewer;
  readonly moderation: Moderation;
}

function RestrictedItem({ restricted, moderation }: RestrictedItemProps) {
  const { viewer, name, kind, by } = restricted;
  const displayName = name || texts.anonymous;
  const restriction = restrictionLabel(restricted);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line pb-2">
      <span className="grid min-w-0">
        <span dir="auto" className="truncate font-semibold">
          {displayName}
        </span>
        <span className="text-sm text-quiet">
          {by === null ? (
            restriction
          ) : (
            <TextTemplate text={texts.restricted.by(restriction)}>
              <bdi>{by}</bdi>
            </TextTemplate>
          )}
        </span>
      </span>
      <Button
        onPress={() => (kind === 'banned' ? moderation.unban(viewer) : moderation.unmute(viewer))}
      >
        {kind === 'banned' ? texts.actions.unban : texts.actions.unmute}
        <span className="sr-only">– {displayName}</span>
      </Button>
    </li>
  );
}

function restrictionLabel({ kind, until }: RestrictedViewer): string {
  const { restricted } = texts;
  if (until === null) return kind === 'banned' ? restricted.bannedForShow : restricted.mutedForShow;
  const time = TIME.format(until);
  return kind === 'banned' ? restricted.bannedUntil(time) : restricted.mutedUntil(time);
}

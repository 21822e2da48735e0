import type { RestrictedViewer } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/states.tsx';
import type { LoadedList } from './use-chat-state.ts';
import { ANONYMOUS_NAME, type Moderation } from './use-moderation.ts';

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
      {all.length === 0 && !loadError && (
        <p className="text-quiet">
          No muted or banned viewers. Use a message’s menu to mute or ban someone.
        </p>
      )}
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
        <p className="text-quiet">and {(all.length - VISIBLE_MAX).toLocaleString()} more</p>
      )}
    </>
  );
}

interface RestrictedItemProps {
  readonly restricted: RestrictedViewer;
  readonly moderation: Moderation;
}

function RestrictedItem({ restricted, moderation }: RestrictedItemProps) {
  const { viewer, name, kind, until, by } = restricted;
  const displayName = name || ANONYMOUS_NAME;
  const period = until === null ? 'for the show' : `until ${TIME.format(until)}`;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line pb-2">
      <span className="grid min-w-0">
        <span dir="auto" className="truncate font-semibold">
          {displayName}
        </span>
        <span className="text-sm text-quiet">
          {kind === 'banned' ? 'Banned' : 'Muted'} {period}
          {by !== null && (
            <>
              , by <bdi>{by}</bdi>
            </>
          )}
        </span>
      </span>
      <Button
        onPress={() => (kind === 'banned' ? moderation.unban(viewer) : moderation.unmute(viewer))}
      >
        {kind === 'banned' ? 'Lift ban' : 'Unmute'}
        <span className="sr-only">– {displayName}</span>
      </Button>
    </li>
  );
}

import { RadioTower, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Rehearsal } from '../../protocol/rehearsal.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { dateTimeOf } from '../shell/times.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Panel } from '../ui/panel.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { CrowdView } from './crowd-view.tsx';
import { NewRehearsalPanel } from './new-rehearsal-panel.tsx';
import { texts } from './texts.ts';
import { ViewersFrame } from './viewers-frame.tsx';

interface CurrentRehearsalProps {
  readonly showId: string;
  readonly rehearsal: Rehearsal;
}

export function CurrentRehearsal({ showId, rehearsal }: CurrentRehearsalProps) {
  const mayStart = usePermission('createRehearsal');
  const { state, streamId, crowd, settings } = rehearsal;
  return (
    <div className="grid items-start gap-4 *:min-w-0 lg:grid-cols-2 xl:grid-cols-[3fr_2fr]">
      <div className="grid gap-4 *:min-w-0">
        <StatePanel showId={showId} rehearsal={rehearsal} />
        <CrowdView crowd={crowd} settings={settings} isRunning={state === 'running'} />
      </div>
      {state === 'running' ? (
        <ViewersFrame streamId={streamId} />
      ) : (
        mayStart && <NewRehearsalPanel showId={showId} settings={settings} />
      )}
    </div>
  );
}

const STATES = {
  running: { variant: 'accent', text: texts.state.running },
  over: { variant: 'plain', text: texts.state.over },
  lost: { variant: 'bad', text: texts.state.lost },
} as const;

function StatePanel({ showId, rehearsal }: CurrentRehearsalProps) {
  const { state, streamId } = rehearsal;
  const { variant, text } = STATES[state];
  return (
    <Panel title={texts.state.title} aside={<Badge variant={variant}>{text}</Badge>}>
      <p className="max-w-prose text-quiet">{stateSentence(rehearsal)}</p>
      <div className="flex flex-wrap gap-3">
        {state === 'running' && (
          <Link
            href={`/streams/${streamId}/on-air`}
            className={`inline-flex min-h-11 items-center gap-2 rounded-lg bg-accent px-4 font-semibold text-on-accent hover:bg-accent-hover ${FOCUS_RING}`}
          >
            <RadioTower className="size-5" />
            {texts.state.goOnAir}
          </Link>
        )}
        <Ending showId={showId} rehearsal={rehearsal} />
      </div>
    </Panel>
  );
}

function stateSentence({ state, endsAt, removedAt }: Rehearsal): string {
  if (state === 'running') {
    return texts.state.runningHelp(dateTimeOf(endsAt));
  }
  if (state === 'over') {
    return texts.state.overHelp(dateTimeOf(removedAt));
  }
  return texts.state.lostHelp;
}

/** Ends a running rehearsal; deletes one that has ended. */
function Ending({ showId, rehearsal }: CurrentRehearsalProps) {
  const [isConfirming, setConfirming] = useState(false);
  const mayEnd = usePermission('deleteRehearsal');
  const end = useApiMutation('endStream', {
    invalidates: ['readRehearsal'],
    onSuccess: () => showSuccess(texts.end.done),
  });
  const remove = useApiMutation('deleteRehearsal', {
    invalidates: ['readRehearsal'],
    onSuccess: () => setConfirming(false),
  });
  if (!mayEnd) return null;
  if (rehearsal.state === 'running') {
    return (
      <Button
        variant="danger"
        isPending={end.isPending}
        onPress={() => end.mutate({ params: { stream_id: rehearsal.streamId }, body: {} })}
        icon={<Square />}
      >
        {texts.end.action}
      </Button>
    );
  }
  return (
    <>
      <Button onPress={() => setConfirming(true)} icon={<Trash2 />}>
        {texts.delete.button}
      </Button>
      <Confirm
        title={texts.delete.title}
        action={texts.delete.action}
        isOpen={isConfirming}
        onOpenChange={setConfirming}
        isPending={remove.isPending}
        onConfirm={() => remove.mutate({ params: { stream_id: showId } })}
      >
        {texts.delete.help}
      </Confirm>
    </>
  );
}

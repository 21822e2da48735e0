import { RadioTower, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Rehearsal } from '../../protocol/rehearsal.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { dateOf } from '../shell/times.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Panel } from '../ui/panel.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { CrowdView } from './crowd-view.tsx';
import { NewRehearsalPanel } from './new-rehearsal-panel.tsx';
import { ViewersFrame } from './viewers-frame.tsx';

const AGAIN_MS = 1_000;

interface CurrentRehearsalProps {
  readonly showId: string;
  readonly rehearsal: Rehearsal;
}

/** The rehearsal of a show: how it goes, or how it went. */
export function CurrentRehearsal({ showId, rehearsal }: CurrentRehearsalProps) {
  useRead('readRehearsal', { params: { stream_id: showId } }, { againMs: AGAIN_MS });
  const mayBegin = useMay('createRehearsal');
  const { state, streamId, crowd, settings } = rehearsal;
  return (
    <div className="grid items-start gap-4 *:min-w-0 lg:grid-cols-2 xl:grid-cols-[3fr_2fr]">
      <div className="grid gap-4 *:min-w-0">
        <Course showId={showId} rehearsal={rehearsal} />
        <CrowdView crowd={crowd} settings={settings} isThere={state === 'running'} />
      </div>
      {state === 'running' ? (
        <ViewersFrame streamId={streamId} />
      ) : (
        mayBegin && <NewRehearsalPanel showId={showId} settings={settings} />
      )}
    </div>
  );
}

const STATES = {
  running: { look: 'accent', text: 'Running' },
  over: { look: 'plain', text: 'Over' },
  lost: { look: 'bad', text: 'Its viewers are lost' },
} as const;

/** Where it stands, and what can be done. */
function Course({ showId, rehearsal }: CurrentRehearsalProps) {
  const { state, streamId } = rehearsal;
  const { look, text } = STATES[state];
  return (
    <Panel title="Rehearsal" aside={<Badge look={look}>{text}</Badge>}>
      <p className="max-w-prose text-quiet">{sentenceOf(rehearsal)}</p>
      <div className="flex flex-wrap gap-3">
        {state === 'running' && (
          <Link
            href={`/streams/${streamId}/on-air`}
            className={`inline-flex min-h-11 items-center gap-2 rounded-lg bg-accent px-4 font-semibold text-on-accent hover:bg-accent-hover ${FOCUS_RING}`}
          >
            <RadioTower className="size-5" aria-hidden="true" />
            Run it on air
          </Link>
        )}
        <Ending showId={showId} rehearsal={rehearsal} />
      </div>
    </Panel>
  );
}

function sentenceOf({ state, endsAt, removedAt }: Rehearsal): string {
  if (state === 'running') {
    return `Run it by the page “On air”, as the show itself. It ends by itself ${dateOf(endsAt)}.`;
  }
  if (state === 'over') {
    return `Nothing of it was seen outside. What is left is removed ${dateOf(removedAt)}, or now.`;
  }
  return 'The part of the service that sent its viewers was stopped, and they are gone. Begin another.';
}

/** Ends what runs; removes what is over. */
function Ending({ showId, rehearsal }: CurrentRehearsalProps) {
  const [isAsking, setAsking] = useState(false);
  const mayEnd = useMay('deleteRehearsal');
  const end = useWrite('endStream', {
    stale: ['readRehearsal'],
    onDone: () => tellDone('The rehearsal ends.'),
  });
  const remove = useWrite('deleteRehearsal', {
    stale: ['readRehearsal'],
    onDone: () => setAsking(false),
  });
  if (!mayEnd) return null;
  if (rehearsal.state === 'running') {
    return (
      <Button
        look="danger"
        isPending={end.isPending}
        onPress={() => end.write({ params: { stream_id: rehearsal.streamId }, body: {} })}
      >
        <Square aria-hidden="true" />
        End the rehearsal
      </Button>
    );
  }
  return (
    <>
      <Button onPress={() => setAsking(true)}>
        <Trash2 aria-hidden="true" />
        Remove it now
      </Button>
      <Confirm
        title="Remove the rehearsal?"
        action="Remove it"
        isOpen={isAsking}
        onOpenChange={setAsking}
        isPending={remove.isPending}
        onConfirm={() => remove.write({ params: { stream_id: showId } })}
      >
        Its figures, its quizzes and their answers are gone then. The show stays as it is.
      </Confirm>
    </>
  );
}

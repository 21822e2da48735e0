import { Drama } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import {
  type NewRehearsal,
  REHEARSAL_LATENCY_MAX_MS,
  REHEARSAL_LOSS_MAX,
  REHEARSAL_VIEWERS_MAX,
} from '../../protocol/rehearsal.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Panel } from '../ui/panel.tsx';

/** A hall as it usually is. */
const USUAL: NewRehearsal = {
  viewers: 100,
  latencyMs: 2_000,
  lossShare: 0.01,
  botShare: 0.05,
  lateShare: 0.03,
};

interface NewRehearsalPanelProps {
  readonly showId: string;
  /** The crowd of before. */
  readonly settings?: NewRehearsal;
}

/** Begins a rehearsal. */
export function NewRehearsalPanel({ showId, settings }: NewRehearsalPanelProps) {
  const [crowd, setCrowd] = useState(settings ?? USUAL);
  const { write, isPending } = useWrite('createRehearsal', { stale: ['readRehearsal'] });
  const change = (part: Partial<NewRehearsal>) => setCrowd({ ...crowd, ...part });
  const begin = (event: FormEvent) => {
    event.preventDefault();
    write({ params: { stream_id: showId }, body: crowd });
  };
  return (
    <Panel title={settings ? 'Rehearse again' : 'Rehearse the show'}>
      <p className="max-w-prose text-quiet">
        You run it as you will on the day, with a copy of your drafts and with viewers who are none.
        Nobody outside notices: it is in no list, nothing is recorded, and no webhook is told.
      </p>
      <form onSubmit={begin} className="grid gap-5">
        <div className="grid grid-cols-[repeat(auto-fit,minmax(13rem,1fr))] items-start gap-5">
          <NumberField
            label="Viewers"
            help="They come, answer, chat, and leave for a while."
            value={crowd.viewers}
            onChange={(viewers) => change({ viewers: viewers || 1 })}
            minValue={1}
            maxValue={REHEARSAL_VIEWERS_MAX}
            step={1}
          />
          <NumberField
            label="Lag, seconds"
            help="They see what happens so much later, as with a picture that comes late."
            value={crowd.latencyMs / 1_000}
            onChange={(seconds) => change({ latencyMs: Math.round(seconds * 1_000) || 0 })}
            minValue={0}
            maxValue={REHEARSAL_LATENCY_MAX_MS / 1_000}
            step={0.5}
          />
          <Share
            label="Requests lost"
            help="On a bad net; they try again, as the app does."
            value={crowd.lossShare}
            max={REHEARSAL_LOSS_MAX}
            onChange={(lossShare) => change({ lossShare })}
          />
          <Share
            label="Bots"
            help="They answer faster than anybody can read."
            value={crowd.botShare}
            onChange={(botShare) => change({ botShare })}
          />
          <Share
            label="Late answers"
            help="They come after the close, and must be refused."
            value={crowd.lateShare}
            onChange={(lateShare) => change({ lateShare })}
          />
        </div>
        <div>
          <Button type="submit" look="primary" isPending={isPending}>
            <Drama aria-hidden="true" />
            Begin the rehearsal
          </Button>
        </div>
      </form>
    </Panel>
  );
}

interface ShareProps {
  readonly label: string;
  readonly help: string;
  readonly value: number;
  readonly max?: number;
  readonly onChange: (share: number) => void;
}

function Share({ label, help, value, max = 1, onChange }: ShareProps) {
  return (
    <NumberField
      label={label}
      help={help}
      value={value}
      onChange={(share) => onChange(share || 0)}
      minValue={0}
      maxValue={max}
      step={0.01}
      formatOptions={{ style: 'percent' }}
    />
  );
}

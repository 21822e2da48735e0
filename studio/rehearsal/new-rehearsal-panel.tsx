import { Drama } from 'lucide-react';
import { useState } from 'react';
import {
  REHEARSAL_LATENCY_MAX_MS,
  REHEARSAL_LOSS_MAX,
  REHEARSAL_VIEWERS_MAX,
} from '../../protocol/limits.ts';
import type { NewRehearsal } from '../../protocol/rehearsal.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Panel } from '../ui/panel.tsx';
import { texts } from './texts.ts';

/** Typical conditions. */
const DEFAULTS: NewRehearsal = {
  viewers: 100,
  latencyMs: 2_000,
  lossShare: 0.01,
  botShare: 0.05,
  lateShare: 0.03,
};

interface NewRehearsalPanelProps {
  readonly showId: string;
  readonly settings?: NewRehearsal;
}

export function NewRehearsalPanel({ showId, settings }: NewRehearsalPanelProps) {
  const [draft, setDraft] = useState(settings ?? DEFAULTS);
  const { mutate, isPending } = useApiMutation('createRehearsal', {
    invalidates: ['readRehearsal'],
  });
  const change = (part: Partial<NewRehearsal>) => setDraft({ ...draft, ...part });
  const start = () => mutate({ params: { stream_id: showId }, body: draft });
  return (
    <Panel title={settings ? texts.create.titleAgain : texts.create.title}>
      <p className="max-w-prose text-quiet">{texts.create.explanation}</p>
      <Form className="grid gap-5" onSubmit={start}>
        <div className="grid grid-cols-[repeat(auto-fit,minmax(13rem,1fr))] items-start gap-5">
          <NumberField
            label={texts.create.viewers}
            help={texts.create.viewersHelp}
            value={draft.viewers}
            onChange={(viewers) => change({ viewers: viewers || 1 })}
            minValue={1}
            maxValue={REHEARSAL_VIEWERS_MAX}
            step={1}
          />
          <NumberField
            label={texts.create.delay}
            help={texts.create.delayHelp}
            value={draft.latencyMs / 1_000}
            onChange={(seconds) => change({ latencyMs: Math.round(seconds * 1_000) || 0 })}
            minValue={0}
            maxValue={REHEARSAL_LATENCY_MAX_MS / 1_000}
            step={0.5}
          />
          <ShareField
            label={texts.create.lostRequests}
            help={texts.create.lostRequestsHelp}
            value={draft.lossShare}
            max={REHEARSAL_LOSS_MAX}
            onChange={(lossShare) => change({ lossShare })}
          />
          <ShareField
            label={texts.create.bots}
            help={texts.create.botsHelp}
            value={draft.botShare}
            onChange={(botShare) => change({ botShare })}
          />
          <ShareField
            label={texts.create.lateAnswers}
            help={texts.create.lateAnswersHelp}
            value={draft.lateShare}
            onChange={(lateShare) => change({ lateShare })}
          />
        </div>
        <div>
          <Button type="submit" variant="primary" isPending={isPending} icon={<Drama />}>
            {texts.create.action}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}

interface ShareFieldProps {
  readonly label: string;
  readonly help: string;
  readonly value: number;
  readonly max?: number;
  readonly onChange: (share: number) => void;
}

function ShareField({ label, help, value, max = 1, onChange }: ShareFieldProps) {
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

import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Label, Radio, RadioGroup, Text } from 'react-aria-components';
import {
  CHOICE_CHARS,
  CHOICES_MAX,
  CHOICES_MIN,
  QUESTION_CHARS,
  QUIZ_DURATION_MAX_MS,
  QUIZ_DURATION_MIN_MS,
} from '../../protocol/limits.ts';
import type { NewQuiz } from '../../protocol/studio.ts';
import { Button } from '../ui/button.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { type Draft, type DraftErrors, quizOf } from './draft.ts';

interface QuizEditorProps {
  readonly initial: Draft;
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: (quiz: NewQuiz) => void;
  readonly onCancel: () => void;
}

/** Where a quiz is written. What is wrong is said when it is to be kept, and then at once. */
export function QuizEditor({ initial, action, isPending, onSubmit, onCancel }: QuizEditorProps) {
  const [draft, setDraft] = useState(initial);
  const [isTried, setTried] = useState(false);
  const made = quizOf(draft);
  const errors = isTried && 'errors' in made ? made.errors : null;
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <DialogForm
      action={action}
      isPending={isPending}
      validation="aria"
      onSubmit={() => {
        setTried(true);
        if ('quiz' in made) onSubmit(made.quiz);
      }}
      onCancel={onCancel}
    >
      <TextField
        label="Question"
        rows={2}
        value={draft.question}
        onChange={(question) => change({ question })}
        maxLength={QUESTION_CHARS}
        error={errors?.question}
        autoFocus
      />
      <Choices draft={draft} errors={errors} onChange={change} />
      <NumberField
        label="Time to answer, seconds"
        value={draft.durationMs / 1_000}
        onChange={(seconds) => change({ durationMs: Math.round(seconds * 1_000) || 0 })}
        minValue={QUIZ_DURATION_MIN_MS / 1_000}
        maxValue={QUIZ_DURATION_MAX_MS / 1_000}
        error={errors?.duration}
      />
      <Switch
        label="Show the results by hand"
        help="Otherwise they are shown as soon as the time is over."
        isSelected={draft.isByHand}
        onChange={(isByHand) => change({ isByHand })}
      />
    </DialogForm>
  );
}

interface ChoicesProps {
  readonly draft: Draft;
  readonly errors: DraftErrors | null;
  readonly onChange: (part: Partial<Draft>) => void;
}

function Choices({ draft, errors, onChange }: ChoicesProps) {
  const { choices, right } = draft;
  const without = (place: number) => ({
    choices: choices.toSpliced(place, 1),
    right: right === null || right === place ? null : right - Number(right > place),
  });
  return (
    <RadioGroup
      className="grid gap-2"
      value={right === null ? null : String(right)}
      onChange={(place) => onChange({ right: Number(place) })}
      isInvalid={errors?.right !== undefined}
    >
      <Label className="text-sm font-semibold">Choices</Label>
      <Text slot="description" className="text-sm text-quiet">
        Mark the right one.
      </Text>
      {choices.map((choice, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a choice is its place; two may be alike while they are written
        <div key={place} className="flex items-start gap-2">
          <Radio
            value={String(place)}
            aria-label={`Choice ${place + 1} is right`}
            className="group grid size-11 shrink-0 cursor-pointer place-items-center"
          >
            <span className="size-5 rounded-full border-2 border-edge group-selected:border-6 group-selected:border-good group-focus-visible:outline-3 group-focus-visible:outline-offset-2 group-focus-visible:outline-focus" />
          </Radio>
          <div className="min-w-0 flex-1">
            <TextField
              aria-label={`Choice ${place + 1}`}
              value={choice}
              onChange={(text) => onChange({ choices: choices.with(place, text) })}
              maxLength={CHOICE_CHARS}
              error={errors?.choices[place]}
            />
          </div>
          <Button
            look="quiet"
            size="icon"
            aria-label={`Take choice ${place + 1} away`}
            isDisabled={choices.length <= CHOICES_MIN}
            onPress={() => onChange(without(place))}
          >
            <X aria-hidden="true" />
          </Button>
        </div>
      ))}
      {errors?.right && <p className="text-sm text-bad">{errors.right}</p>}
      <div>
        <Button
          look="quiet"
          isDisabled={choices.length >= CHOICES_MAX}
          onPress={() => onChange({ choices: [...choices, ''] })}
        >
          <Plus aria-hidden="true" />
          Another choice
        </Button>
      </div>
    </RadioGroup>
  );
}

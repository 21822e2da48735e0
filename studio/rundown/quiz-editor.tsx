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
import { type Draft, type DraftErrors, validateDraft } from './draft.ts';
import { texts } from './texts.ts';

interface QuizEditorProps {
  readonly initial: Draft;
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: (quiz: NewQuiz) => void;
  readonly onCancel: () => void;
}

/** The form for a quiz. Errors appear after the first attempt to save. */
export function QuizEditor({ initial, action, isPending, onSubmit, onCancel }: QuizEditorProps) {
  const [draft, setDraft] = useState(initial);
  const [isSubmitted, setSubmitted] = useState(false);
  const result = validateDraft(draft);
  const errors = isSubmitted && 'errors' in result ? result.errors : null;
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <DialogForm
      action={action}
      fields={draft}
      isPending={isPending}
      validation="aria"
      onSubmit={() => {
        setSubmitted(true);
        if ('quiz' in result) onSubmit(result.quiz);
      }}
      onCancel={onCancel}
    >
      <TextField
        label={texts.editor.question}
        rows={2}
        value={draft.question}
        onChange={(question) => change({ question })}
        maxLength={QUESTION_CHARS}
        error={errors?.question}
        autoFocus
      />
      <Choices draft={draft} errors={errors} onChange={change} />
      <NumberField
        label={texts.editor.time}
        value={draft.durationMs / 1_000}
        onChange={(seconds) => change({ durationMs: Math.round(seconds * 1_000) || 0 })}
        minValue={QUIZ_DURATION_MIN_MS / 1_000}
        maxValue={QUIZ_DURATION_MAX_MS / 1_000}
        error={errors?.duration}
      />
      <Switch
        label={texts.editor.manualReveal}
        help={texts.editor.manualRevealHelp}
        isSelected={draft.isManualReveal}
        onChange={(isManualReveal) => change({ isManualReveal })}
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
  const { choices, correctIndex } = draft;
  const without = (index: number) => ({
    choices: choices.toSpliced(index, 1),
    correctIndex:
      correctIndex === null || correctIndex === index
        ? null
        : correctIndex - Number(correctIndex > index),
  });
  return (
    <RadioGroup
      className="grid gap-2"
      value={correctIndex === null ? null : String(correctIndex)}
      onChange={(index) => onChange({ correctIndex: Number(index) })}
      isInvalid={errors?.correctChoice !== undefined}
    >
      <Label className="text-sm font-semibold">{texts.editor.choices}</Label>
      <Text slot="description" className="text-sm text-quiet">
        {texts.editor.choicesHelp}
      </Text>
      {choices.map((choice, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a choice has no id, and two may be equal while they are edited
        <div key={index} className="flex items-start gap-2">
          <Radio
            value={String(index)}
            aria-label={texts.editor.choiceIsCorrect(index + 1)}
            className="group grid size-11 shrink-0 cursor-pointer place-items-center"
          >
            <span className="size-5 rounded-full border-2 border-edge group-selected:border-6 group-selected:border-good group-focus-visible:outline-3 group-focus-visible:outline-offset-2 group-focus-visible:outline-focus" />
          </Radio>
          <div className="min-w-0 flex-1">
            <TextField
              aria-label={texts.editor.choice(index + 1)}
              value={choice}
              onChange={(text) => onChange({ choices: choices.with(index, text) })}
              maxLength={CHOICE_CHARS}
              error={errors?.choices[index]}
            />
          </div>
          <Button
            variant="quiet"
            aria-label={texts.editor.removeChoice(index + 1)}
            isDisabled={choices.length <= CHOICES_MIN}
            onPress={() => onChange(without(index))}
            icon={<X />}
          />
        </div>
      ))}
      {errors?.correctChoice && <p className="text-sm text-bad">{errors.correctChoice}</p>}
      <div>
        <Button
          variant="quiet"
          isDisabled={choices.length >= CHOICES_MAX}
          onPress={() => onChange({ choices: [...choices, ''] })}
          icon={<Plus />}
        >
          {texts.editor.addChoice}
        </Button>
      </div>
    </RadioGroup>
  );
}

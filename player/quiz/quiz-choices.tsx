import { Icon } from '../icon.tsx';

interface QuizChoicesProps {
  readonly order: readonly string[];
  /** The id of the element with the question. */
  readonly labelledBy: string;
  readonly choice: string | null;
  readonly isOpen: boolean;
  onChoose(choice: string): void;
}

/** The choices of a quiz. Closed ones are `aria-disabled`, so that they keep the focus. */
export function QuizChoices({ order, labelledBy, choice, isOpen, onChoose }: QuizChoicesProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a legend; the heading is the label
    <div className="quiz-choices" role="group" aria-labelledby={labelledBy}>
      {order.map((text, index) => (
        <button
          key={text}
          type="button"
          className="quiz-choice"
          aria-pressed={text === choice}
          aria-disabled={!isOpen}
          onClick={() => {
            if (isOpen) onChoose(text);
          }}
        >
          <span className="quiz-number" aria-hidden="true">
            {index + 1}
          </span>
          <span className="quiz-choice-text" dir="auto">
            {text}
          </span>
          {text === choice && <Icon name="lock" />}
        </button>
      ))}
    </div>
  );
}

/** @returns the choice of a number key: 1 to 9 are the first nine, 0 is the tenth; null: none */
export function choiceOfKey(
  { key, altKey, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey'>,
  order: readonly string[],
): string | null {
  if (altKey || ctrlKey || metaKey || !/^\d$/.test(key)) return null;
  return order[key === '0' ? 9 : Number(key) - 1] ?? null;
}

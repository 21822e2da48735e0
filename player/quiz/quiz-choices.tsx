import { Icon } from '../icon.tsx';

interface QuizChoicesProps {
  readonly order: readonly string[];
  /** The id of the question. */
  readonly labelledBy: string;
  readonly choice: string | null;
  readonly isOpen: boolean;
  onChoose(choice: string): void;
}

/** What can be chosen. What was chosen is locked; the keyboard stays where it is. */
export function QuizChoices({ order, labelledBy, choice, isOpen, onChoose }: QuizChoicesProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would want a legend instead of the heading
    <div className="quiz-choices" role="group" aria-labelledby={labelledBy}>
      {order.map((one, index) => (
        <button
          key={one}
          type="button"
          className="quiz-choice"
          aria-pressed={one === choice}
          aria-disabled={!isOpen}
          onClick={() => {
            if (isOpen) onChoose(one);
          }}
        >
          <span className="quiz-number" aria-hidden="true">
            {index + 1}
          </span>
          <span className="quiz-choice-text">{one}</span>
          {one === choice && <Icon name="lock" />}
        </button>
      ))}
    </div>
  );
}

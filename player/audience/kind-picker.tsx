import type { ChatKind } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';

const KINDS: readonly ChatKind[] = ['message', 'question', 'greeting', 'cheer'];

/** Radio buttons for the kind of message. */
export function KindPicker({ kind, onPick }: { kind: ChatKind; onPick(kind: ChatKind): void }) {
  return (
    <fieldset className="kinds">
      <legend className="unseen">{texts.compose.kind}</legend>
      {KINDS.map((option) => (
        <label key={option} className="kind">
          <input
            type="radio"
            name="kind"
            className="kind-radio"
            checked={option === kind}
            onChange={() => onPick(option)}
          />
          <Icon name={option} />
          <span className="kind-label">{texts.chat.kinds[option]}</span>
        </label>
      ))}
    </fieldset>
  );
}

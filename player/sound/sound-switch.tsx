import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import { useSoundSwitch } from './sounds.ts';

/** Switches the sounds of quizzes on and off. */
export function SoundSwitch() {
  const [isOn, onSwitch] = useSoundSwitch();
  return (
    <button type="button" className="sound-switch" aria-pressed={isOn} onClick={onSwitch}>
      <Icon name={isOn ? 'sound' : 'silence'} />
      <span className="unseen">{texts.audience.sounds}</span>
    </button>
  );
}

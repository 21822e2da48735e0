import { useEffect, useRef, useSyncExternalStore } from 'react';
import { pageStorage } from '../../sdk/environment.ts';
import { type CueMoment, cueOf } from './cues.ts';
import { playCue } from './tones.ts';

const KEY = 'fourbeat-sounds';

/**
 * The sounds of a page: off until the viewer switches them on, and remembered by the browser. Browsers
 * allow sound after the viewer has used the page; until then the page is silent.
 */
class Sounds {
  #context: AudioContext | null = null;
  #isOn: boolean;
  readonly #listeners = new Set<() => void>();

  constructor(private readonly storage = pageStorage()) {
    this.#isOn = storage?.getItem(KEY) === 'on';
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** @returns unsubscribes */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Called for a click, so that the browser allows sound from now on. */
  switch(): void {
    this.#isOn = !this.#isOn;
    try {
      this.storage?.setItem(KEY, this.#isOn ? 'on' : 'off');
    } catch {
      // The storage is full: the switch is lost with the page.
    }
    // The viewer hears what is switched on.
    if (this.#isOn) this.play('second');
    for (const listener of this.#listeners) listener();
  }

  play(cue: Parameters<typeof playCue>[1]): void {
    if (!this.#isOn) return;
    this.#context ??= new AudioContext();
    if (this.#context.state === 'suspended') {
      void this.#context.resume().catch(() => {});
      // A sound that waits for the viewer would come at the wrong time.
      if (!navigator.userActivation?.isActive) return;
    }
    playCue(this.#context, cue);
  }
}

const sounds = new Sounds();

/** Whether sounds are on, and a function that switches them. */
export function useSoundSwitch(): readonly [isOn: boolean, onSwitch: () => void] {
  const isOn = useSyncExternalStore(sounds.subscribe, () => sounds.isOn);
  return [isOn, () => sounds.switch()];
}

/** Plays the sounds of what the page shows. @param moment null while the page knows nothing yet */
export function useCues(moment: CueMoment | null): void {
  const before = useRef<CueMoment | null>(null);
  const { quizId = null, remainingS = 0, hasWinners = false } = moment ?? {};
  const isKnown = moment !== null;
  useEffect(() => {
    if (!isKnown) return;
    const after = { quizId, remainingS, hasWinners };
    const cue = cueOf(before.current, after);
    before.current = after;
    if (cue) sounds.play(cue);
  }, [isKnown, quizId, remainingS, hasWinners]);
}

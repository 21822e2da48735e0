import { Keyboard } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Keyboard as Keys } from 'react-aria-components';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Switch } from '../ui/switch.tsx';
import { HELP_KEY, OPEN_DIALOG, SHORTCUTS } from './shortcuts.ts';
import { texts } from './texts.ts';

/** Elements that use typed characters themselves: text fields, and lists with type-ahead. */
const TYPING_TARGETS = 'input, textarea, select, [contenteditable], [role=listbox], [role=menu]';
/** `localStorage` key. Speech input may press keys, so users can turn `?` off (WCAG 2.1.4). */
const HELP_KEY_SETTING = 'fourbeat-help-key';

/** A button and a key that open the list of shortcuts. */
export function ShortcutsHelp() {
  const [isOpen, setOpen] = useState(false);
  const [isKeyOn, setKeyOn] = useState(() => localStorage.getItem(HELP_KEY_SETTING) !== 'off');
  useEffect(() => {
    if (!isKeyOn) return;
    const listen = ({ key, target }: KeyboardEvent) => {
      const isTyping = target instanceof Element && target.closest(TYPING_TARGETS) !== null;
      if (key !== HELP_KEY || isTyping || document.querySelector(OPEN_DIALOG)) return;
      setOpen(true);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [isKeyOn]);
  const setKey = (isOn: boolean) => {
    setKeyOn(isOn);
    localStorage.setItem(HELP_KEY_SETTING, isOn ? 'on' : 'off');
  };
  return (
    <>
      <Button
        variant="quiet"
        onPress={() => setOpen(true)}
        {...(isKeyOn && { 'aria-keyshortcuts': HELP_KEY })}
        icon={<Keyboard />}
      >
        {texts.shortcuts.button}
      </Button>
      <Dialog title={texts.shortcuts.title} isOpen={isOpen} onOpenChange={setOpen}>
        {(close) => (
          <>
            {SHORTCUTS.map(({ where, all }) => (
              <section key={where} className="grid gap-2">
                <h3 className="font-semibold text-quiet">{where}</h3>
                <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-2">
                  {all.map(({ keys, effect }) => (
                    <div key={effect} className="contents">
                      <dt className="flex gap-1">
                        {keys.map((key) => (
                          <Keys
                            key={key}
                            className="min-w-8 rounded-md border border-edge bg-raised px-2 py-0.5 text-center text-sm"
                          >
                            {key}
                          </Keys>
                        ))}
                      </dt>
                      <dd>{effect}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
            <Switch
              label={texts.shortcuts.helpKey(HELP_KEY)}
              isSelected={isKeyOn}
              onChange={setKey}
            />
            <div className="flex justify-end">
              <Button onPress={close} autoFocus>
                {texts.shortcuts.close}
              </Button>
            </div>
          </>
        )}
      </Dialog>
    </>
  );
}

import { Keyboard } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Keyboard as Keys } from 'react-aria-components';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Switch } from '../ui/switch.tsx';
import { OPEN_DIALOG } from './open-dialog.ts';
import { HELP_KEY, SHORTCUTS } from './shortcuts.ts';

/** Where text is written a key is a letter of it. */
const WRITTEN_IN = 'input, textarea, select, [contenteditable], [role=listbox], [role=menu]';
/** Who speaks to a computer may press keys without meaning to, and can have this one do nothing. */
const SETTING = 'fourbeat-help-key';

/** A button for the list of all keys, and the key that opens it. */
export function ShortcutsHelp() {
  const [isOpen, setOpen] = useState(false);
  const [isKeyOn, setKeyOn] = useState(() => localStorage.getItem(SETTING) !== 'off');
  useEffect(() => {
    if (!isKeyOn) return;
    const listen = ({ key, target }: KeyboardEvent) => {
      const isText = target instanceof Element && target.closest(WRITTEN_IN) !== null;
      if (key !== HELP_KEY || isText || document.querySelector(OPEN_DIALOG)) return;
      setOpen(true);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [isKeyOn]);
  const setKey = (isOn: boolean) => {
    setKeyOn(isOn);
    localStorage.setItem(SETTING, isOn ? 'on' : 'off');
  };
  return (
    <>
      <Button
        look="quiet"
        onPress={() => setOpen(true)}
        {...(isKeyOn && { 'aria-keyshortcuts': HELP_KEY })}
      >
        <Keyboard aria-hidden="true" />
        Shortcuts
      </Button>
      <Dialog title="Keyboard shortcuts" isOpen={isOpen} onOpenChange={setOpen}>
        {(close) => (
          <>
            {SHORTCUTS.map(({ where, all }) => (
              <section key={where} className="grid gap-2">
                <h3 className="font-semibold text-quiet">{where}</h3>
                <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-2">
                  {all.map(({ keys, does }) => (
                    <div key={does} className="contents">
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
                      <dd>{does}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
            <Switch label={`${HELP_KEY} opens this list`} isSelected={isKeyOn} onChange={setKey} />
            <div className="flex justify-end">
              <Button onPress={close} autoFocus>
                Close
              </Button>
            </div>
          </>
        )}
      </Dialog>
    </>
  );
}

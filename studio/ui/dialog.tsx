import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import {
  Dialog as AriaDialog,
  Heading,
  Modal,
  ModalOverlay,
  type ModalOverlayProps,
} from 'react-aria-components';
import { Button, type ButtonProps } from './button.tsx';
import { DialogActions } from './dialog-actions.tsx';
import { texts } from './texts.ts';
import { UnsavedChangesContext } from './unsaved-changes.ts';
import { useLeaveGuard } from './use-leave-guard.ts';
import { useWhileMounted } from './use-while-mounted.ts';

/** The content of a dialog calls it to set that only a button closes the dialog. */
const PersistenceContext = createContext<(isPersistent: boolean) => void>(() => {});

/** While mounted, only a button closes the dialog: its content is not shown again. */
export function usePersistentDialog(): void {
  const setPersistent = useContext(PersistenceContext);
  useEffect(() => {
    setPersistent(true);
    return () => setPersistent(false);
  }, [setPersistent]);
}

interface DialogProps extends Pick<ModalOverlayProps, 'isOpen' | 'onOpenChange'> {
  /** With the names of people in `<bdi>`. */
  readonly title: ReactNode;
  readonly children: ReactNode | ((close: () => void) => ReactNode);
  /** An alert dialog, which a press outside does not close. */
  readonly isAlert?: boolean;
}

/**
 * A modal dialog; at the bottom of the screen on phones. Escape and a press outside close it; while
 * its form has changes they ask first, as does the browser's Back.
 */
export function Dialog(props: DialogProps) {
  const { title, children, isAlert = false, onOpenChange, ...rest } = props;
  const [isPersistent, setPersistent] = useState(false);
  const [hasChanges, setHasChanges] = useState(false);
  /** Called when the user discards the changes; null: the question is not open. */
  const [onDiscard, setOnDiscard] = useState<(() => void) | null>(null);
  const isAsking = onDiscard !== null;
  const ask = (leave: () => void) => setOnDiscard(() => leave);
  useLeaveGuard(hasChanges, ask);
  const lastFocused = useRef<HTMLElement>(null);
  const close = () => onOpenChange?.(false);
  // A press outside takes the focus from the field: give it back to continue there.
  useEffect(() => {
    if (!isAsking) lastFocused.current?.focus();
  }, [isAsking]);
  const onChanges = useCallback((hasChanges: boolean) => {
    setHasChanges(hasChanges);
    // A form that was saved meanwhile is gone.
    if (!hasChanges) setOnDiscard(null);
  }, []);
  return (
    <ModalOverlay
      {...rest}
      onOpenChange={(isOpen) => (!isOpen && hasChanges ? ask(() => {}) : onOpenChange?.(isOpen))}
      isDismissable={!isAlert && !isPersistent}
      isKeyboardDismissDisabled={isPersistent}
      className="fixed inset-0 z-(--layer-dialog) grid items-end justify-items-center bg-black/50 sm:items-center sm:p-6"
    >
      <Modal className="max-h-[92dvh] w-full max-w-xl scroll-pb-24 overflow-auto rounded-t-2xl bg-card text-text shadow-2xl sm:rounded-2xl">
        <AriaDialog
          role={isAlert ? 'alertdialog' : 'dialog'}
          className="grid grid-cols-1 gap-5 p-5 break-words outline-none sm:p-6"
        >
          <Heading slot="title" className="text-xl font-bold">
            {title}
          </Heading>
          <PersistenceContext value={setPersistent}>
            <UnsavedChangesContext value={onChanges}>
              {/* biome-ignore lint/a11y/noStaticElementInteractions: it only remembers the focus */}
              <div
                className="contents"
                onFocus={({ target }) => {
                  lastFocused.current = target;
                }}
              >
                <DialogContent close={close}>{children}</DialogContent>
              </div>
            </UnsavedChangesContext>
          </PersistenceContext>
          {hasChanges && (
            <DiscardQuestion
              isOpen={isAsking}
              onOpenChange={() => setOnDiscard(null)}
              onConfirm={() => {
                close();
                onDiscard?.();
              }}
            />
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

function DiscardQuestion(props: Pick<ConfirmProps, 'isOpen' | 'onOpenChange' | 'onConfirm'>) {
  const { title, action, cancel, help } = texts.discard;
  return (
    <Confirm {...props} title={title} action={action} cancel={cancel}>
      {help}
    </Confirm>
  );
}

interface DialogContentProps extends Pick<DialogProps, 'children'> {
  readonly close: () => void;
}

/** Its `close` is for this opening: a form whose save succeeds late must not close the next one. */
function DialogContent({ children, close }: DialogContentProps) {
  const closeThis = useWhileMounted(close);
  return typeof children === 'function' ? children(closeThis) : children;
}

interface DialogButtonProps extends ButtonProps {
  readonly title: string;
  /** @returns the content of the dialog */
  readonly dialog: (close: () => void) => ReactNode;
}

export function DialogButton({ title, dialog, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onPress={() => setOpen(true)} />
      <Dialog title={title} isOpen={isOpen} onOpenChange={setOpen}>
        {dialog}
      </Dialog>
    </>
  );
}

interface ConfirmProps extends Pick<ModalOverlayProps, 'isOpen' | 'onOpenChange'> {
  /** With the names of people in `<bdi>`. */
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** Label of the confirming button, a verb. */
  readonly action: string;
  /** Label of the other button. */
  readonly cancel?: string;
  readonly onConfirm: () => void;
  readonly isPending?: boolean;
}

/** Asks the user to confirm an action. */
export function Confirm(props: ConfirmProps) {
  const { action, cancel = texts.cancel, onConfirm, isPending = false, children, ...rest } = props;
  return (
    <Dialog {...rest} isAlert>
      {(close) => (
        <>
          <div className="text-quiet">{children}</div>
          <DialogActions>
            <Button onPress={close} autoFocus>
              {cancel}
            </Button>
            <Button variant="danger" onPress={onConfirm} isPending={isPending}>
              {action}
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}

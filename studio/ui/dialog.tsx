import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import {
  Dialog as AriaDialog,
  Heading,
  Modal,
  ModalOverlay,
  type ModalOverlayProps,
} from 'react-aria-components';
import { Button, type ButtonProps } from './button.tsx';
import { DialogActions } from './dialog-actions.tsx';

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

/** A modal dialog; at the bottom of the screen on phones. */
export function Dialog({ title, children, isAlert = false, ...rest }: DialogProps) {
  const [isPersistent, setPersistent] = useState(false);
  return (
    <ModalOverlay
      {...rest}
      isDismissable={!isAlert && !isPersistent}
      isKeyboardDismissDisabled={isPersistent}
      className="fixed inset-0 z-(--layer-dialog) grid items-end justify-items-center bg-black/50 sm:items-center sm:p-6"
    >
      <Modal className="max-h-[92dvh] w-full max-w-xl scroll-pb-24 overflow-auto rounded-t-2xl bg-card text-text shadow-2xl sm:rounded-2xl">
        <AriaDialog
          role={isAlert ? 'alertdialog' : 'dialog'}
          className="grid grid-cols-1 gap-5 p-5 break-words outline-none sm:p-6"
        >
          {({ close }) => (
            <>
              <Heading slot="title" className="text-xl font-bold">
                {title}
              </Heading>
              <PersistenceContext value={setPersistent}>
                {typeof children === 'function' ? children(close) : children}
              </PersistenceContext>
            </>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
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
  readonly onConfirm: () => void;
  readonly isPending?: boolean;
}

/** Asks the user to confirm an action. */
export function Confirm({ action, onConfirm, isPending = false, children, ...rest }: ConfirmProps) {
  return (
    <Dialog {...rest} isAlert>
      {(close) => (
        <>
          <div className="text-quiet">{children}</div>
          <DialogActions>
            <Button onPress={close} autoFocus>
              Cancel
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

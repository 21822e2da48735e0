import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import {
  Dialog as AriaDialog,
  Heading,
  Modal,
  ModalOverlay,
  type ModalOverlayProps,
} from 'react-aria-components';
import { Button } from './button.tsx';

/** Has the dialog around it closed by a button alone, or not. */
const KeepContext = createContext<(isKept: boolean) => void>(() => {});

/** While this is shown, neither Escape nor a press beside the dialog closes it: it would be lost. */
export function useKeptDialog(): void {
  const keep = useContext(KeepContext);
  useEffect(() => {
    keep(true);
    return () => keep(false);
  }, [keep]);
}

interface DialogProps extends Pick<ModalOverlayProps, 'isOpen' | 'onOpenChange'> {
  readonly title: string;
  readonly children: ReactNode | ((close: () => void) => ReactNode);
  /** It asks before something that cannot be taken back. */
  readonly isAlert?: boolean;
}

/** A window over the page: in the middle, and at the bottom of phones. */
export function Dialog({ title, children, isAlert = false, ...rest }: DialogProps) {
  const [isKept, setKept] = useState(false);
  return (
    <ModalOverlay
      {...rest}
      isDismissable={!isAlert && !isKept}
      isKeyboardDismissDisabled={isKept}
      className="fixed inset-0 z-(--layer-dialog) grid items-end justify-items-center bg-black/50 sm:items-center sm:p-6"
    >
      <Modal className="max-h-[92dvh] w-full max-w-xl overflow-auto rounded-t-2xl bg-card text-text shadow-2xl sm:rounded-2xl">
        <AriaDialog
          role={isAlert ? 'alertdialog' : 'dialog'}
          className="grid gap-5 p-5 outline-none sm:p-6"
        >
          {({ close }) => (
            <>
              <Heading slot="title" className="text-xl font-bold">
                {title}
              </Heading>
              <KeepContext value={setKept}>
                {typeof children === 'function' ? children(close) : children}
              </KeepContext>
            </>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmProps extends Pick<ModalOverlayProps, 'isOpen' | 'onOpenChange'> {
  readonly title: string;
  readonly children: ReactNode;
  /** What the button does, as a verb. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly isPending?: boolean;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ action, onConfirm, isPending = false, children, ...rest }: ConfirmProps) {
  return (
    <Dialog {...rest} isAlert>
      {(close) => (
        <>
          <div className="text-quiet">{children}</div>
          <div className="flex flex-wrap justify-end gap-3">
            <Button onPress={close} autoFocus>
              Cancel
            </Button>
            <Button look="danger" onPress={onConfirm} isPending={isPending}>
              {action}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

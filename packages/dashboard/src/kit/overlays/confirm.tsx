/** Confirmation dialog for an action, with the number of things it affects. */
import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  /** What will be affected, with its count. */
  readonly children: ReactNode
  /** The label of the action button, starting with a verb. */
  readonly verb: string
  /** The label of the button that closes the dialog. */
  readonly dismiss?: string
  readonly isDangerous?: boolean
  /** False until the effect of the action is known. */
  readonly isReady?: boolean
  /** Shows its own error when it fails; the dialog then stays open. */
  readonly act: () => Promise<unknown>
  readonly close: () => void
}

export function Confirm({
  title,
  children,
  verb,
  dismiss = 'Cancel',
  isDangerous = false,
  isReady = true,
  act,
  close,
}: Props) {
  const [isActing, setActing] = useState(false)
  async function go(): Promise<void> {
    setActing(true)
    try {
      await act()
      close()
    } catch {
      setActing(false)
    }
  }
  return (
    <Dialog title={title} close={close}>
      <div className="flex flex-col gap-4">
        <div className="flex flex-col gap-2">{children}</div>
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{dismiss}</Button>
          <Button
            look={isDangerous ? 'danger' : 'main'}
            disabled={isActing || !isReady}
            onClick={() => void go()}
          >
            {isActing ? 'Working…' : verb}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

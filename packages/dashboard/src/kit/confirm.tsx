/** Asks in the page before something is done that cannot be undone, with what it will touch. */
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  /** What will be touched, with its count. */
  readonly children: ReactNode
  /** On the button: what is done, as a verb. */
  readonly verb: string
  readonly isDangerous?: boolean
  /** False while it is not known yet what would be done. */
  readonly isReady?: boolean
  /** What failed was said by then; it stays open. */
  readonly act: () => Promise<unknown>
  readonly close: () => void
}

export function Confirm({ title, children, verb, isDangerous = false, isReady = true, act, close }: Props) {
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
          <Button onClick={close}>Leave it</Button>
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

/** A form in a drawer, with its buttons at the end. */
import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Dialog } from '../overlays/dialog.tsx'
import { FormEnd } from './form-end.tsx'

interface Props {
  readonly title: string
  /** The label of the button that sends the form. */
  readonly verb: string
  /** False while there is nothing to send, or it cannot be sent. */
  readonly isReady: boolean
  /** A problem of the whole form. */
  readonly error: string | undefined
  readonly send: () => Promise<void>
  readonly close: () => void
  readonly children: ReactNode
}

export function DrawerForm({ title, verb, isReady, error, send, close, children }: Props) {
  return (
    <Dialog isDrawer title={title} close={close}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
        className="flex min-h-full flex-col gap-5"
      >
        {children}
        <FormEnd error={error}>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="main" disabled={!isReady}>
            {verb}
          </Button>
        </FormEnd>
      </form>
    </Dialog>
  )
}

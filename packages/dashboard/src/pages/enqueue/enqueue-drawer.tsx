/** Enqueue a job by hand. */
import { Dialog } from '../../kit/dialog.tsx'

export function EnqueueDrawer({ close }: { readonly close: () => void }) {
  return (
    <Dialog isDrawer title="Enqueue a job" close={close}>
      <p>…</p>
    </Dialog>
  )
}

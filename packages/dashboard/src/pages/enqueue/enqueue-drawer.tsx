/** Enqueue a job by hand. */
import { Dialog } from '../../kit/dialog.tsx'

interface Props {
  readonly close: () => void
  /** A job to begin from. */
  readonly like?: {
    readonly kind: string
    readonly payload: unknown
    readonly queue: string
    readonly priority: number
    readonly tags: readonly string[]
    readonly maxAttempts: number
  }
}

export function EnqueueDrawer({ close }: Props) {
  return (
    <Dialog isDrawer title="Enqueue a job" close={close}>
      <p>…</p>
    </Dialog>
  )
}

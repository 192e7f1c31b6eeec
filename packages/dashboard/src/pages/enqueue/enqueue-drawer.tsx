/** Drawer to enqueue a job by hand: a new one, or a copy of an existing job. */
import { useState } from 'react'
import { Dialog } from '../../kit/overlays/dialog.tsx'
import { Enqueued, type EnqueuedAnswer } from './enqueued.tsx'
import { draftLike, type EnqueueDraft, type Like } from './enqueue-draft.ts'
import { EnqueueForm } from './enqueue-form.tsx'

interface Props {
  readonly close: () => void
  /** The job to copy. */
  readonly like?: Like
  /** The kind of a new job. */
  readonly kind?: string
}

export function EnqueueDrawer({ close, like, kind = '' }: Props) {
  const [draft, setDraft] = useState<EnqueueDraft>(() => ({
    ...draftLike(like),
    ...(kind !== '' && { kind }),
  }))
  const [answer, setAnswer] = useState<EnqueuedAnswer | null>(null)
  return (
    <Dialog isDrawer title={like === undefined ? 'Enqueue job' : 'Enqueue copy'} close={close}>
      {answer === null ? (
        <EnqueueForm
          draft={draft}
          isCopy={like !== undefined}
          change={(changes) => setDraft((known) => ({ ...known, ...changes }))}
          enqueued={setAnswer}
          close={close}
        />
      ) : (
        <Enqueued answer={answer} again={() => setAnswer(null)} close={close} />
      )}
    </Dialog>
  )
}

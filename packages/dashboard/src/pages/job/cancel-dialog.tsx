/** Asks why, and cancels. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { named } from '../../api/client.ts'
import type { Job } from '../../api/types/job.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { Field, TextInput } from '../../kit/field.tsx'

/** As long as the server takes. */
const LONGEST = 1_000

export function CancelDialog({ job, close }: { readonly job: Job; readonly close: () => void }) {
  const { act } = useAct<{ readonly answer: 'cancelled' | 'requested' }>()
  const [reason, setReason] = useState('')
  const body = reason.trim() === '' ? {} : { reason: reason.trim() }
  return (
    <Confirm
      title="Cancel this job"
      verb="Cancel 1 job"
      isDangerous
      close={close}
      act={() =>
        act({
          method: 'POST',
          path: `jobs/${named(job.id)}/cancel`,
          body,
          done: ({ answer }) => (answer === 'cancelled' ? 'Cancelled' : 'It was asked to stop'),
        })
      }
    >
      <p>
        {job.state === 'running'
          ? '1 running job is asked to stop. It ends when its handler hears that.'
          : '1 waiting job will not run. It can be retried while it is kept.'}
      </p>
      <Field label="Reason" hint="Stands at the job for whoever looks at it next. May be left empty.">
        {(ids) => (
          <TextInput
            {...ids}
            autoFocus
            maxLength={LONGEST}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        )}
      </Field>
    </Confirm>
  )
}

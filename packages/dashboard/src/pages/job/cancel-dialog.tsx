/** Asks for a reason and cancels the job. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Answer, Job } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { Field, TextInput } from '../../kit/forms/field.tsx'

/** The server's limit. */
const LONGEST = 1_000

export function CancelDialog({ job, close }: { readonly job: Job; readonly close: () => void }) {
  const { act } = useAct<Answer<'jobs.cancel'>>()
  const [reason, setReason] = useState('')
  const body = reason.trim() === '' ? {} : { reason: reason.trim() }
  return (
    <Confirm
      title="Cancel job?"
      verb="Cancel job"
      dismiss={job.state === 'running' ? 'Keep running' : 'Keep job'}
      isDangerous
      close={close}
      act={() =>
        act({
          method: 'POST',
          path: `jobs/${encodeName(job.id)}/cancel`,
          body,
          done: ({ state }) => (state === 'cancelled' ? 'Job cancelled' : 'Cancellation requested'),
        })
      }
    >
      <p>
        {job.state === 'running'
          ? 'The running job will be asked to stop. It ends once its handler responds to the abort signal.'
          : 'The job will not run. It can be retried until retention deletes it.'}
      </p>
      <Field label="Reason" hint="Optional. Shown on the job.">
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

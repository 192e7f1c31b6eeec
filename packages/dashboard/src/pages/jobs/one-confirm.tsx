/** Asks before one job is cancelled or deleted. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { named } from '../../api/client.ts'
import type { JobSummary } from '../../api/types/job.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { StateBadge } from '../../kit/state.tsx'
import { ReasonField } from './reason-field.tsx'

interface Props {
  readonly act: 'cancel' | 'delete'
  readonly job: JobSummary
  readonly close: () => void
}

export function OneConfirm({ act, job: { id, kind, state }, close }: Props) {
  const acting = useAct<{ readonly answer?: string }>()
  const [reason, setReason] = useState('')
  const isCancel = act === 'cancel'
  return (
    <Confirm
      title={isCancel ? 'Cancel this job?' : 'Delete this job?'}
      verb={isCancel ? 'Cancel the job' : 'Delete the job'}
      isDangerous
      close={close}
      act={() =>
        acting.act(
          isCancel
            ? {
                method: 'POST',
                path: `jobs/${named(id)}/cancel`,
                body: reason.trim() === '' ? {} : { reason: reason.trim() },
                done: ({ answer }) =>
                  answer === 'requested' ? `${kind} was asked to stop` : `Cancelled ${kind}`,
              }
            : { method: 'DELETE', path: `jobs/${named(id)}`, done: `Deleted ${kind}` },
        )
      }
    >
      <p className="break-words">
        1 job of the kind <b className="font-medium">{kind}</b>, which is <StateBadge state={state} />
      </p>
      <p className="font-mono text-xs break-all text-soft">{id}</p>
      {isCancel ? (
        <>
          <p>{state === 'running' ? 'It runs, so it is asked to stop.' : 'It will not run.'}</p>
          <ReasonField reason={reason} change={setReason} />
        </>
      ) : (
        <p>It is gone then, with its history. This cannot be undone.</p>
      )}
    </Confirm>
  )
}

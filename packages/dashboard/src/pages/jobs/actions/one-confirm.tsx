/** Confirms that one job is cancelled or deleted. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { Answer, JobSummary } from '../../../api/types.ts'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { StateBadge } from '../../../kit/state.tsx'
import { ReasonField } from './reason-field.tsx'

interface Props {
  readonly act: 'cancel' | 'delete'
  readonly job: JobSummary
  readonly close: () => void
}

export function OneConfirm({ act, job: { id, kind, state }, close }: Props) {
  const acting = useAct<Answer<'jobs.cancel' | 'jobs.delete'>>()
  const [reason, setReason] = useState('')
  const isCancel = act === 'cancel'
  return (
    <Confirm
      title={isCancel ? 'Cancel job?' : 'Delete job?'}
      verb={isCancel ? 'Cancel job' : 'Delete job'}
      {...(isCancel && { dismiss: state === 'running' ? 'Keep running' : 'Keep job' })}
      isDangerous
      close={close}
      act={() =>
        acting.act(
          isCancel
            ? {
                method: 'POST',
                path: `jobs/${encodeName(id)}/cancel`,
                body: reason.trim() === '' ? {} : { reason: reason.trim() },
                done: (answer) =>
                  answer.state === 'running' ? `Cancellation requested for ${kind}` : `Cancelled ${kind}`,
              }
            : { method: 'DELETE', path: `jobs/${encodeName(id)}`, done: `Deleted ${kind}` },
        )
      }
    >
      <p className="break-words">
        <b className="font-medium">{kind}</b> <StateBadge state={state} />
      </p>
      <p className="font-mono text-xs break-all text-soft">{id}</p>
      {isCancel ? (
        <>
          <p>{state === 'running' ? 'The running job will be asked to stop.' : 'The job will not run.'}</p>
          <ReasonField reason={reason} change={setReason} />
        </>
      ) : (
        <p>The job and its history are deleted. This cannot be undone.</p>
      )}
    </Confirm>
  )
}

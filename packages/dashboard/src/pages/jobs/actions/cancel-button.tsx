/** Cancels a job at once. The toast says what happens to it. */
import { Ban } from 'lucide-react'
import { useAct } from '../../../api/acts.ts'
import type { JobSummary } from '../../../api/types.ts'
import { ActButton } from '../../../kit/act-button.tsx'
import { shortId } from '../../../kit/text/format.ts'
import { cancelAct } from './one-job.ts'

interface Props {
  readonly job: Pick<JobSummary, 'id' | 'kind' | 'cancelReason'>
  readonly isRow?: boolean
  readonly hasEnded?: boolean
}

export function CancelButton({ job, isRow = true, hasEnded = false }: Props) {
  const { actNow, isActing } = useAct()
  return (
    <ActButton
      isRow={isRow}
      label={`Cancel ${job.kind} ${shortId(job.id)}`}
      word="Cancel"
      icon={Ban}
      disabled={isActing}
      disabledBecause={whyNot(job.cancelReason, hasEnded)}
      act={() => actNow(cancelAct(job))}
    />
  )
}

function whyNot(cancelReason: string | null, hasEnded: boolean): string | undefined {
  if (hasEnded) return 'The job has ended.'
  return cancelReason === null
    ? undefined
    : 'Cancellation was requested. The job ends when its handler responds to the abort signal.'
}

/** Runs an ended job, or a copy of any job, again from a step. */
import { CopyPlus, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { Answer, Inspected, Job, Step } from '../../../api/types.ts'
import { JsonEditor, useJson } from '../../../kit/json/json-editor.tsx'
import { ActionsMenu } from '../../../kit/overlays/actions-menu.tsx'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { MenuItem } from '../../../kit/overlays/menu.tsx'
import { sayIfProblem, wholePayload } from '../whole.ts'

interface Props {
  readonly job: Job
  readonly step: Step
}

type Open = 'rewind' | { readonly fork: unknown } | null

export function RunFrom({ job, step, left }: Props & { readonly left: Inspected['left'] }) {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const fork = (): Promise<void> => sayIfProblem(async () => setOpen({ fork: await wholePayload(job, left) }))
  return (
    <>
      <ActionsMenu name={step.name}>
        {job.endedAt !== null && (
          <MenuItem icon={RotateCcw} select={() => setOpen('rewind')}>
            Rewind…
          </MenuItem>
        )}
        <MenuItem icon={CopyPlus} select={() => void fork()}>
          Fork…
        </MenuItem>
      </ActionsMenu>
      {open === 'rewind' && <Rewind job={job} step={step} close={close} />}
      {open !== null && typeof open === 'object' && (
        <Fork job={job} step={step} payload={open.fork} close={close} />
      )}
    </>
  )
}

interface Dialog extends Props {
  readonly close: () => void
}

function Rewind({ job, step, close }: Dialog) {
  const { act } = useAct()
  const rewind = () =>
    act({
      method: 'POST',
      path: `jobs/${encodeName(job.id)}/rewind`,
      body: { from: step.name },
      done: `Rewound to ${step.name}`,
    })
  return (
    <Confirm title="Rewind job" verb="Rewind" close={close} act={rewind}>
      <p>
        Runs this job again from step <b>{step.name}</b>. Earlier steps keep their results. This step and all
        later ones run again.
      </p>
    </Confirm>
  )
}

function Fork({ job, step, payload: before, close }: Dialog & { readonly payload: unknown }) {
  const { act } = useAct<Answer<'jobs.fork'>>()
  const [, go] = useLocation()
  const [text, setText] = useState(JSON.stringify(before, null, 2))
  const read = useJson(text)
  const fork = async (): Promise<void> => {
    const payload = 'value' in read ? read.value : null
    const { id } = await act({
      method: 'POST',
      path: `jobs/${encodeName(job.id)}/fork`,
      body: { from: step.name, payload },
      done: 'Enqueued a fork',
    })
    go(`/jobs/${id}`)
  }
  return (
    <Confirm title="Fork job" verb="Fork" close={close} act={fork} isReady={'value' in read}>
      <p>
        Enqueues a copy of this job that starts at step <b>{step.name}</b>, with the results of the steps
        before it.
      </p>
      <JsonEditor label="Payload" text={text} change={setText} />
    </Confirm>
  )
}

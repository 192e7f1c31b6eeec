/**
 * Confirms a bulk action, with the affected jobs by state. A background job then carries it out, and its page
 * shows the progress.
 */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../../../api/acts.ts'
import { STATES } from '../../../api/states.ts'
import type { Answer, BulkPreview } from '../../../api/types.ts'
import { Confirm } from '../../../kit/overlays/confirm.tsx'
import { number, plural } from '../../../kit/text/format.ts'
import { DataView } from '../../../kit/data-view.tsx'
import { StateBadge } from '../../../kit/state.tsx'
import { type ActInfo, actPhrase } from './acts.ts'
import { chipsOf } from '../filter/chips.ts'
import { PatchPayloads, usePatch } from './patch/patch-payloads.tsx'
import { useFirstJob } from './patch/use-first-job.ts'
import { ReasonField } from './reason-field.tsx'
import { bodyOf, type BulkTarget, usePreview } from './use-preview.ts'

interface Props {
  readonly info: ActInfo
  readonly meant: BulkTarget
  readonly close: () => void
  /** Called when the bulk action has been enqueued. */
  readonly onEnqueued: () => void
}

export function BulkConfirm({ info, meant, close, onEnqueued }: Props) {
  const { act, name, isDangerous, means } = info
  const [reason, setReason] = useState('')
  const [, go] = useLocation()
  const [patchText, setPatchText] = useState<string | null>(null)
  const { patch, isSendable } = usePatch(patchText)
  const first = useFirstJob(meant, patchText !== null)
  const acting = useAct<Answer<'bulk.run'>>()
  const preview = usePreview(act, meant)
  const jobs = preview.data?.jobs ?? 0

  async function begin(): Promise<void> {
    const { id } = await acting.act({
      method: 'POST',
      path: 'bulk',
      body: {
        act,
        filter: bodyOf(meant),
        ...(patch !== null && { patch }),
        ...(act === 'cancel' && reason.trim() !== '' && { reason: reason.trim() }),
      },
      done: `${name} queued for ${plural(jobs, 'job')}`,
    })
    onEnqueued()
    go(`/jobs/${id}`)
  }

  return (
    <Confirm
      title={
        'ids' in meant ? `${actPhrase(name, 'selected jobs')}?` : `${actPhrase(name, 'all matching jobs')}?`
      }
      {...(act === 'cancel' && { dismiss: 'Keep jobs' })}
      verb={jobs === 0 ? name : actPhrase(name, plural(jobs, 'job'))}
      isDangerous={isDangerous}
      isReady={jobs > 0 && isSendable}
      act={begin}
      close={close}
    >
      <Which meant={meant} />
      <DataView read={preview}>{(found) => <Found found={found} meant={meant} info={info} />}</DataView>
      {jobs > 0 && <p className="text-soft">{means}</p>}
      {act === 'retry' && jobs > 0 && <PatchPayloads text={patchText} change={setPatchText} first={first} />}
      {act === 'cancel' && jobs > 0 && <ReasonField reason={reason} change={setReason} />}
    </Confirm>
  )
}

function Which({ meant }: { readonly meant: BulkTarget }) {
  if ('ids' in meant) return null
  const chips = chipsOf(meant.filter)
  if (chips.length === 0) return <p className="font-medium">No filter: this affects every job.</p>
  return (
    <p className="break-words">
      {chips.map(({ text, name, value }, at) => (
        <span key={text}>
          {at > 0 && ', '}
          <span className="text-soft">{name}</span> {value}
        </span>
      ))}
    </p>
  )
}

function Found({
  found: { jobs, byState },
  meant,
  info: { name, states },
}: {
  readonly found: BulkPreview
  readonly meant: BulkTarget
  readonly info: ActInfo
}) {
  const others = 'ids' in meant ? meant.ids.length - jobs : 0
  return (
    <>
      {jobs > 0 && (
        <ul
          aria-label="Affected jobs"
          className="flex flex-wrap gap-x-4 gap-y-1 rounded-lg bg-sunk px-3 py-2"
        >
          {STATES.filter((state) => (byState[state] ?? 0) > 0).map((state) => (
            <li key={state} className="flex items-center gap-1.5">
              <b className="font-semibold tabular-nums">{number(byState[state] ?? 0)}</b>
              <StateBadge state={state} />
            </li>
          ))}
        </ul>
      )}
      {jobs === 0 && (
        <p>
          No jobs to change: {name} applies to {states.join(', ')} jobs.
        </p>
      )}
      {jobs > 0 && others > 0 && (
        <p className="text-soft">
          {plural(others, 'selected job')} will not change: {name} applies to {states.join(', ')} jobs.
        </p>
      )}
    </>
  )
}

/** Actions on the selected jobs; shown while some are selected. */
import { useState } from 'react'
import type { State } from '../../../api/types.ts'
import { useMay } from '../../../api/user/roles.ts'
import { Button } from '../../../kit/button.tsx'
import { plural } from '../../../kit/text/format.ts'
import { type ActInfo, ACTS } from './acts.ts'
import { BulkConfirm } from './bulk-confirm.tsx'
import { MOST_SELECTED, type Selection } from './use-selection.ts'

interface Props {
  readonly selection: Selection
  /** The number of selected jobs on other pages. */
  readonly elsewhere: number
}

export function SelectionBar({ selection: { jobs, clear }, elsewhere }: Props) {
  const may = useMay()
  const [asked, setAsked] = useState<ActInfo | null>(null)
  const states = new Set(jobs.values())
  if (jobs.size === 0) return null
  return (
    <div
      role="toolbar"
      aria-label="Selected jobs"
      className="sticky bottom-2 z-20 mx-2 mt-2 flex flex-wrap items-center gap-2 rounded-lg border border-accent bg-card px-3 py-2 shadow-lg"
    >
      <p aria-live="polite">
        <b className="font-semibold">{plural(jobs.size, 'job')}</b> selected
        {elsewhere > 0 && <span className="text-soft">, {elsewhere} not on this page</span>}
        {jobs.size === MOST_SELECTED && <span className="text-soft"> (maximum)</span>}
      </p>
      <Button look="quiet" className="mr-auto" onClick={clear}>
        Clear selection
      </Button>
      {ACTS.filter(({ role }) => may(role)).map((info) => (
        <Button
          key={info.act}
          look={info.isDangerous ? 'danger' : 'plain'}
          icon={info.icon}
          className="max-sm:disabled:hidden"
          disabled={!info.states.some((state) => states.has(state))}
          onClick={() => setAsked(info)}
        >
          {info.name}
        </Button>
      ))}
      {asked !== null && (
        <BulkConfirm
          info={asked}
          meant={{ ids: idsFor(asked, jobs) }}
          close={() => setAsked(null)}
          onEnqueued={clear}
        />
      )}
    </div>
  )
}

/** The jobs that the action changes come first: the preview of a patch shows the first one. */
function idsFor({ states }: ActInfo, jobs: Selection['jobs']): readonly string[] {
  const fits = ([, state]: readonly [string, State]): number => Number(states.includes(state))
  return [...jobs].toSorted((a, b) => fits(b) - fits(a)).map(([id]) => id)
}

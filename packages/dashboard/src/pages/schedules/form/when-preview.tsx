/** Describes the typed expression and lists its next runs. */
import { instantOf } from '../../../kit/forms/parse-input.ts'
import { NextRuns } from '../next-runs.tsx'
import type { ScheduleDraft } from './schedule-draft.ts'
import { sentence } from '../../../kit/text/format.ts'

interface Props {
  readonly draft: ScheduleDraft
  readonly zone: string
  readonly found: { readonly text: string; readonly runs: readonly number[] } | undefined
}

const SHOWN = 5

export function WhenPreview({ draft, zone, found }: Props) {
  if (draft.when.trim() === '' || found === undefined) return null
  const start = boundary(draft.start, Number.NEGATIVE_INFINITY)
  const end = boundary(draft.end, Number.POSITIVE_INFINITY)
  const runs = found.runs.filter((at) => at >= start && at <= end)
  return (
    <div aria-live="polite" className="rounded-lg bg-sunk px-3 py-2">
      <p className="font-medium">{sentence(found.text)}</p>
      {runs.length === 0 ? (
        <p className="text-soft">None of the next ten runs is between start and end.</p>
      ) : (
        <NextRuns runs={runs.slice(0, SHOWN)} zone={zone} />
      )}
    </div>
  )
}

function boundary(text: string, otherwise: number): number {
  const read = instantOf(text)
  return 'value' in read ? (read.value ?? otherwise) : otherwise
}

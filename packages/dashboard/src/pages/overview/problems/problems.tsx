/** Issues that need attention, worst first, each with a fix. */
import { serverTime } from '../../../api/clock.ts'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { useDiagnostics, useOverview } from '../../../api/reads.ts'
import type { Diagnostic } from '../../../api/types.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { DataView } from '../../../kit/data-view.tsx'
import { ProblemRow } from './problem-row.tsx'

const FIRST = 10

export function Problems() {
  const read = useDiagnostics()
  if (read.data === undefined)
    return (
      <Card>
        {/* Usually there are no problems, and the card is one line. */}
        <DataView read={read} shape="line">
          {() => null}
        </DataView>
      </Card>
    )
  const diagnostics = read.data.diagnostics
  return diagnostics.length === 0 ? <Well /> : <Found diagnostics={diagnostics} />
}

function Well() {
  return (
    <section
      aria-label="Issues"
      className="flex items-start gap-2 rounded-xl border border-line bg-card px-4 py-3"
    >
      <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-done" />
      <p>
        <b className="font-medium">All systems normal.</b>{' '}
        <span className="text-soft">
          Checked: failing kinds, processes, queues and kinds without a worker, paused and throttled queues,
          queue latency, failures, duties, schedules, limits, configuration drift and the database.
        </span>
      </p>
    </section>
  )
}

function Found({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) {
  const { data, dataUpdatedAt } = useOverview()
  const [isWhole, setWhole] = useState(false)
  const queueOf = ({ about }: Diagnostic) =>
    about.what === 'queue' ? data?.queues.find(({ settings }) => settings.name === about.name) : undefined
  const shown = isWhole ? diagnostics : diagnostics.slice(0, FIRST)
  return (
    <section aria-labelledby="attention" className="overflow-hidden rounded-xl border border-line bg-card">
      <h2 id="attention" className="px-4 py-2 text-sm font-semibold">
        {diagnostics.length === 1 ? '1 issue needs attention' : `${diagnostics.length} issues need attention`}
      </h2>
      <ul className="divide-y divide-line border-t border-line">
        {shown.map((diagnostic, at) => (
          <ProblemRow
            key={keyOf(diagnostic, shown.slice(0, at))}
            diagnostic={diagnostic}
            queue={queueOf(diagnostic)}
            asOf={serverTime(dataUpdatedAt)}
          />
        ))}
      </ul>
      {diagnostics.length > FIRST && (
        <Button look="quiet" className="m-1" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${diagnostics.length - FIRST} more`}
        </Button>
      )}
    </section>
  )
}

const named = ({ check, about }: Diagnostic): string => `${check} ${about.what ?? ''} ${about.name ?? ''}`

/**
 * Excludes the text, which may change with every read: a button must not disappear while it is being clicked.
 */
function keyOf(diagnostic: Diagnostic, before: readonly Diagnostic[]): string {
  const same = before.filter((one) => named(one) === named(diagnostic)).length
  return `${named(diagnostic)} ${same}`
}

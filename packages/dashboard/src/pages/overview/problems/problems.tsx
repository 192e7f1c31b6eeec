/** What needs attention, the worst first, each with the way out. */
import { serverTime } from '../../../api/clock.ts'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { useFindings, useOverview } from '../../../api/reads.ts'
import type { Finding } from '../../../api/types/mill.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Shown } from '../../../kit/shown.tsx'
import { ProblemCard } from './problem-card.tsx'

const FIRST = 6

export function Problems() {
  const read = useFindings()
  if (read.data === undefined)
    return (
      <Card title="What needs attention">
        <Shown read={read}>{() => null}</Shown>
      </Card>
    )
  const findings = read.data.findings
  return findings.length === 0 ? <Well /> : <Found findings={findings} />
}

function Well() {
  return (
    <section
      aria-label="What needs attention"
      className="flex items-start gap-2 rounded-xl border border-line bg-card px-4 py-3"
    >
      <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-done" />
      <p>
        <b className="font-medium">All is well.</b>{' '}
        <span className="text-soft">
          Looked at processes, kinds and queues that nobody serves, paused and cooling queues, jobs that wait
          long, deaths, duties, schedules, limits, settings and the database.
        </span>
      </p>
    </section>
  )
}

function Found({ findings }: { readonly findings: readonly Finding[] }) {
  const { data, dataUpdatedAt } = useOverview()
  const [isWhole, setWhole] = useState(false)
  const queueOf = ({ about }: Finding) =>
    about.what === 'queue'
      ? data?.queues.find(({ settings }) => settings.name === about.name)?.settings
      : undefined
  const shown = isWhole ? findings : findings.slice(0, FIRST)
  return (
    <section aria-labelledby="attention" className="flex flex-col gap-3">
      <h2 id="attention" className="text-sm font-semibold">
        {findings.length === 1 ? '1 thing needs attention' : `${findings.length} things need attention`}
      </h2>
      <ul className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
        {shown.map((finding, at) => (
          <ProblemCard
            key={keyOf(finding, shown.slice(0, at))}
            finding={finding}
            queue={queueOf(finding)}
            asOf={serverTime(dataUpdatedAt)}
          />
        ))}
      </ul>
      {findings.length > FIRST && (
        <Button look="quiet" className="self-start" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${findings.length - FIRST} more`}
        </Button>
      )}
    </section>
  )
}

const named = ({ check, about }: Finding): string => `${check} ${about.what ?? ''} ${about.name ?? ''}`

/** Not by what it says, which may change with every read: a button must not go away under the finger. */
function keyOf(finding: Finding, before: readonly Finding[]): string {
  const same = before.filter((one) => named(one) === named(finding)).length
  return `${named(finding)} ${same}`
}

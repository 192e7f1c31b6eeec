/** The database in one line: its health, size, latency and connections. */
import { useSystem } from '../../api/reads.ts'
import type { System } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Badge } from '../../kit/state.tsx'
import { plural } from '../../kit/text/format.ts'
import { databaseFacts, databaseProblems } from './database-health.ts'
import { gaugesOf } from './resources/gauges.ts'
import { useSamples } from './resources/use-samples.ts'

/** The sizes of all tables, which change slowly. */
const EVERY_MS = 30_000

export function DatabaseLine() {
  const { data: system } = useSystem({ atMostEveryMs: EVERY_MS })
  if (system !== undefined) return <Line system={system} />
  return (
    <div className={SHAPE}>
      <div className="grow">
        <Skeleton shape="line" />
      </div>
    </div>
  )
}

const SHAPE = 'flex flex-wrap items-center gap-x-4 gap-y-1 rounded-xl border border-line bg-card px-4 py-2'

function Line({ system }: { readonly system: System }) {
  const gauges = gaugesOf(useSamples().data?.slice(-1) ?? [])
  const problems = databaseProblems(system, gauges)
  return (
    <section aria-label="Database" className={SHAPE}>
      <h2 className="text-sm font-semibold">Database</h2>
      {problems.length === 0 ? (
        <Badge colour="text-done" text="ok" />
      ) : (
        <Badge colour="text-dead" text={plural(problems.length, 'problem')} />
      )}
      {problems.map((problem) => (
        <span key={problem} className="text-dead">
          {problem}
        </span>
      ))}
      <span className="min-w-0 text-soft tabular-nums">{databaseFacts(system, gauges).join(' · ')}</span>
      <TextLink to="/system" className="ml-auto whitespace-nowrap">
        View system
      </TextLink>
    </section>
  )
}

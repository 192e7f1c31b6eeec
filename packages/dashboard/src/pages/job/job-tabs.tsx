/** The data of a job, in tabs. The selected tab is part of the URL. */
import { type ReactNode, useState } from 'react'
import { useMay } from '../../api/user/roles.ts'
import type { Inspected, Job } from '../../api/types.ts'
import { useSearchValue } from '../../kit/search.ts'
import { Tabs } from '../../kit/tabs.tsx'
import { number } from '../../kit/text/format.ts'
import { BULK_KIND } from './bulk/bulk-kind.ts'
import { AuditTab } from './tabs/audit-tab.tsx'
import { CompareTab } from './compare/compare-tab.tsx'
import { ErrorsTab } from './tabs/errors-tab.tsx'
import { LogTab } from './tabs/log-tab.tsx'
import { ProgressTab } from './tabs/progress-tab.tsx'
import { StepsTab } from './steps/steps-tab.tsx'
import { TimelineTab } from './tabs/timeline-tab.tsx'
import { PayloadTab, ResultTab } from './tabs/value-tabs.tsx'
import type { Try } from './tries.ts'

interface Props {
  readonly read: Inspected
  readonly tries: readonly Try[]
}

/** The tab that most often answers why the page was opened. */
function firstTab({ state, kind }: Job, isParked: boolean): string {
  if (isParked) return 'steps'
  if (kind === BULK_KIND) return 'payload'
  return state === 'dead' ? 'errors' : state === 'running' ? 'log' : 'payload'
}

/** It waits in a durable step. */
function isParked({ state }: Job, tries: readonly Try[]): boolean {
  return state === 'scheduled' && tries.at(-1)?.outcome === 'parked'
}

export function JobTabs({ read, tries }: Props) {
  const { job, left } = read
  const may = useMay()
  const [asked, choose] = useSearchValue('tab')
  // A job that ends while its log is read keeps the log open.
  const [first] = useState(() => firstTab(job, isParked(job, tries)))
  const errors = tries.filter(({ error }) => error !== null)
  const lines = tries.reduce((sum, { log }) => sum + log.length, 0)
  const tabs: readonly (readonly [
    key: string,
    name: string,
    count: number | null,
    content: () => ReactNode,
  ])[] = [
    ['payload', 'Payload', null, () => <PayloadTab job={job} left={left} />],
    ['result', 'Result', null, () => <ResultTab job={job} left={left} />],
    ['steps', 'Steps', null, () => <StepsTab job={job} left={left} />],
    ['progress', 'Progress', null, () => <ProgressTab job={job} />],
    ['log', 'Log', lines, () => <LogTab job={job} tries={tries} />],
    ['errors', 'Errors', errors.length, () => <ErrorsTab tries={errors} />],
    ['compare', 'Compare', null, () => <CompareTab read={read} tries={tries} />],
    ['timeline', 'Events', null, () => <TimelineTab id={job.id} />],
    ...(may('operator') ? [['audit', 'Audit', null, () => <AuditTab id={job.id} />] as const] : []),
  ]
  const chosen = tabs.some(([key]) => key === asked) ? (asked ?? '') : first
  return (
    <section aria-label="Job data" className="min-w-0 rounded-xl border border-line bg-card">
      <Tabs
        label="Job data"
        chosen={chosen}
        choose={choose}
        tabs={tabs.map(([key, name, count, content]) => ({
          key,
          name: (
            <>
              {name}
              {count !== null && count > 0 && (
                <span className="ml-1.5 rounded bg-sunk px-1 text-xs tabular-nums">{number(count)}</span>
              )}
            </>
          ),
          content: <div className="min-w-0 p-4">{key === chosen && content()}</div>,
        }))}
      />
    </section>
  )
}

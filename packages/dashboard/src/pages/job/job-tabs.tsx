/** The data of a job, in tabs. The selected tab is part of the URL. */
import type { ReactNode } from 'react'
import { useMay } from '../../api/user/roles.ts'
import type { Inspected, Job } from '../../api/types.ts'
import { useSearchValue } from '../../kit/search.ts'
import { Tabs } from '../../kit/tabs.tsx'
import { number } from '../../kit/text/format.ts'
import { AuditTab } from './tabs/audit-tab.tsx'
import { CompareTab } from './tabs/compare-tab.tsx'
import { ErrorsTab } from './tabs/errors-tab.tsx'
import { LogTab } from './tabs/log-tab.tsx'
import { ProgressTab } from './tabs/progress-tab.tsx'
import { TimelineTab } from './tabs/timeline-tab.tsx'
import { PayloadTab, ResultTab } from './tabs/value-tabs.tsx'
import type { Try } from './tries.ts'

interface Props {
  readonly job: Job
  readonly tries: readonly Try[]
  readonly left: Inspected['left']
}

export function JobTabs({ job, tries, left }: Props) {
  const may = useMay()
  const [asked, choose] = useSearchValue('tab')
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
    ['progress', 'Progress', null, () => <ProgressTab job={job} />],
    ['log', 'Log', lines, () => <LogTab job={job} tries={tries} />],
    ['errors', 'Errors', errors.length, () => <ErrorsTab tries={errors} />],
    ['compare', 'Compare', null, () => <CompareTab tries={tries} />],
    ['timeline', 'Events', null, () => <TimelineTab id={job.id} />],
    ...(may('operator') ? [['audit', 'Audit', null, () => <AuditTab id={job.id} />] as const] : []),
  ]
  const chosen = tabs.some(([key]) => key === asked) ? (asked ?? '') : 'payload'
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

/** System: how everything is, who changed what, and what happened. */
import { useMay } from '../../api/roles.ts'
import { PageHead } from '../../kit/card.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { Tabs } from '../../kit/tabs.tsx'
import { AuditLog } from './audit-log.tsx'
import { Events } from './events.tsx'
import { Health } from './health.tsx'

export function SystemPage() {
  const may = useMay()
  const [tab, setTab] = useSearchValue('tab')
  const tabs = [
    { key: 'health', name: 'Health', content: <Health /> },
    // Who did what is not for everybody.
    ...(may('operator') ? [{ key: 'audit', name: 'Audit', content: <AuditLog /> }] : []),
    { key: 'timeline', name: 'Timeline', content: <Events /> },
  ]
  const chosen = tabs.some(({ key }) => key === tab) ? (tab ?? 'health') : 'health'
  return (
    <>
      <PageHead title="System" />
      <Tabs
        label="Parts of the system"
        chosen={chosen}
        choose={(key) => setTab(key === 'health' ? null : key)}
        tabs={tabs.map(({ content, ...one }) => ({ ...one, content: <div className="pt-4">{content}</div> }))}
      />
    </>
  )
}

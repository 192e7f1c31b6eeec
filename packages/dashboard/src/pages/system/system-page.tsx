/** System page: health, alert rules, audit log and lifecycle events. */
import { useMay } from '../../api/user/roles.ts'
import { PageHead } from '../../kit/card.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { Tabs } from '../../kit/tabs.tsx'
import { Alerts } from './alerts/alerts.tsx'
import { AuditLog } from './audit-log.tsx'
import { Events } from './events.tsx'
import { Health } from './health.tsx'

export function SystemPage() {
  const may = useMay()
  const [tab, setTab] = useSearchValue('tab')
  const tabs = [
    { key: 'health', name: 'Health', content: <Health /> },
    { key: 'alerts', name: 'Alerts', content: <Alerts /> },
    // The audit log requires the operator role.
    ...(may('operator') ? [{ key: 'audit', name: 'Audit', content: <AuditLog /> }] : []),
    { key: 'timeline', name: 'Events', content: <Events /> },
  ]
  const chosen = tabs.some(({ key }) => key === tab) ? (tab ?? 'health') : 'health'
  return (
    <>
      <PageHead title="System" />
      <Tabs
        label="System"
        chosen={chosen}
        choose={(key) => setTab(key === 'health' ? null : key)}
        tabs={tabs.map(({ content, ...one }) => ({ ...one, content: <div className="pt-4">{content}</div> }))}
      />
    </>
  )
}

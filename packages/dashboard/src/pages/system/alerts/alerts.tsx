/** Alert rules: what is sent to which webhook, and the problems that each rule follows. */
import { Plus } from 'lucide-react'
import { Fragment, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useAlerts } from '../../../api/reads.ts'
import { useMay } from '../../../api/user/roles.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { DataView, Empty } from '../../../kit/data-view.tsx'
import { OpenedRow } from '../../../kit/table/opener.tsx'
import { useSearchValue } from '../../../kit/search.ts'
import { SortedTable } from '../../../kit/table/sorted-table.tsx'
import { draftIn, withoutDraft } from './alert-address.ts'
import { AlertDrawer } from './alert-drawer.tsx'
import { ALERT_COLUMNS, ALERT_VALUES, AlertRow } from './alert-row.tsx'
import { AlertProblems } from './alert-problems.tsx'

export function Alerts() {
  const read = useAlerts()
  const may = useMay()
  const [isCreating, setCreating] = useState(false)
  const [open, setOpen] = useSearchValue('open')
  const [search, setSearch] = useSearchParams()
  const asked = may('admin') ? draftIn(search) : null
  return (
    <Card
      flush
      title="Alert rules"
      tools={
        may('admin') ? (
          <Button icon={Plus} onClick={() => setCreating(true)}>
            New rule
          </Button>
        ) : undefined
      }
    >
      {isCreating && <AlertDrawer close={() => setCreating(false)} />}
      {asked !== null && (
        <AlertDrawer draft={asked} close={() => setSearch(withoutDraft, { replace: true })} />
      )}
      <DataView read={read} shape="list">
        {({ alerts }) =>
          alerts.length === 0 ? (
            <Empty title="No alert rules">
              A rule sends problems that the diagnostics find to a webhook. Declare one in the options (
              <code className="font-mono">alerts</code>){may('admin') ? ', or create one here.' : '.'}
            </Empty>
          ) : (
            <SortedTable label="Alert rules" columns={ALERT_COLUMNS} rows={alerts} values={ALERT_VALUES}>
              {(alert) => (
                <Fragment key={alert.name}>
                  <AlertRow
                    alert={alert}
                    isOpen={open === alert.name}
                    turn={() => setOpen(open === alert.name ? null : alert.name)}
                  />
                  {open === alert.name && (
                    <OpenedRow columns={ALERT_COLUMNS.length} title={`Alert rule ${alert.name}`}>
                      <AlertProblems alert={alert} />
                    </OpenedRow>
                  )}
                </Fragment>
              )}
            </SortedTable>
          )
        }
      </DataView>
    </Card>
  )
}

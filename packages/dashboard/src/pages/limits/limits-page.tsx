/** Limits page: cluster-wide limits, what is available and who uses them. */
import { serverTime } from '../../api/clock.ts'
import { Plus } from 'lucide-react'
import { Fragment, useState } from 'react'
import { useLimits } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import { Button } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { NOTE } from '../../kit/skeleton.tsx'
import { plural } from '../../kit/text/format.ts'
import { OpenedRow } from '../../kit/table/opener.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { OverridesCard } from '../../kit/overrides/overrides-card.tsx'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { LimitDrawer } from './limit-drawer.tsx'
import { LimitHistory } from './limit-history.tsx'
import { LIMIT_COLUMNS, LIMIT_VALUES, LimitRow } from './limit-row.tsx'

export function LimitsPage() {
  const read = useLimits()
  const may = useMay()
  const [isCreating, setCreating] = useState(false)
  const [open, setOpen] = useSearchValue('open')
  return (
    <>
      <PageHead
        title="Limits"
        note={read.data === undefined ? NOTE : `${plural(read.data.limits.length, 'limit')}, cluster-wide`}
      >
        {may('admin') && (
          <Button icon={Plus} onClick={() => setCreating(true)}>
            New limit
          </Button>
        )}
      </PageHead>
      {isCreating && <LimitDrawer close={() => setCreating(false)} />}
      <Card flush>
        <DataView read={read} shape="table">
          {({ limits }) =>
            limits.length === 0 ? (
              <Empty title="No limits">
                A limit caps the rate or the concurrency of jobs across all processes. Declare one in the
                options (<code className="font-mono">limits</code>)
                {may('admin') ? ', or create one here.' : '.'}
              </Empty>
            ) : (
              <SortedTable label="Limits" columns={LIMIT_COLUMNS} rows={limits} values={LIMIT_VALUES}>
                {(limit) => (
                  <Fragment key={limit.name}>
                    <LimitRow
                      limit={limit}
                      // Older servers do not report the queues.
                      queues={limit.queues ?? []}
                      asOf={serverTime(read.dataUpdatedAt)}
                      isOpen={open === limit.name}
                      turn={() => setOpen(open === limit.name ? null : limit.name)}
                    />
                    {open === limit.name && (
                      <OpenedRow columns={LIMIT_COLUMNS.length} title={`Limit ${limit.name}`}>
                        <div className="flex flex-col gap-4">
                          <OverridesCard what="limit" name={limit.name} />
                          <LimitHistory limit={limit} queues={limit.queues ?? []} />
                        </div>
                      </OpenedRow>
                    )}
                  </Fragment>
                )}
              </SortedTable>
            )
          }
        </DataView>
      </Card>
    </>
  )
}

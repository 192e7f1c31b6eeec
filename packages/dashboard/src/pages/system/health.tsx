/** System health: diagnostics, overrides, duties and the database. */
import { useSystem } from '../../api/reads.ts'
import { DataView } from '../../kit/data-view.tsx'
import { About } from './about.tsx'
import { Database } from './database.tsx'
import { Duties } from './duties.tsx'
import { Diagnostics } from './diagnostics.tsx'
import { Migrations } from './migrations.tsx'
import { Overrides } from './overrides.tsx'
import { PinningSessions } from './pinning-sessions.tsx'
import { StoreTimings } from './store-timings.tsx'

export function Health() {
  const read = useSystem()
  return (
    <div className="flex flex-col gap-4">
      <Diagnostics />
      <Overrides />
      <DataView read={read} shape="cards">
        {(system) => (
          <>
            <PinningSessions sessions={system.database?.pinned ?? []} />
            <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
              <div className="flex min-w-0 flex-col gap-4">
                <Duties duties={system.duties} />
                <Database system={system} />
              </div>
              <div className="flex min-w-0 flex-col gap-4">
                <StoreTimings storeTimings={system.storeTimings} />
                <About system={system} />
                <Migrations migrations={system.migrations} />
              </div>
            </div>
          </>
        )}
      </DataView>
    </div>
  )
}

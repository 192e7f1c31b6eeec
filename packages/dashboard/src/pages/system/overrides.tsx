/** Every option that an operator set. Each one takes precedence over the code until it is reset. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { useAllOverrides } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { plural } from '../../kit/text/format.ts'
import { OverrideTable } from '../../kit/overrides/override-table.tsx'
import { DataView } from '../../kit/data-view.tsx'

export function Overrides() {
  const read = useAllOverrides()
  const may = useMay()
  const { act } = useAct()
  const [isAsking, setAsking] = useState(false)
  const many = read.data?.overrides.length ?? 0
  return (
    <Card
      flush
      title="Overrides"
      tools={
        may('admin') && many > 0 ? <Button onClick={() => setAsking(true)}>Reset all</Button> : undefined
      }
    >
      {isAsking && (
        <Confirm
          title="Reset all overrides?"
          verb="Reset overrides"
          close={() => setAsking(false)}
          act={() => act({ method: 'DELETE', path: 'overrides', done: `Reset ${plural(many, 'override')}` })}
        >
          <p>
            Returns {plural(many, 'option')} to the values in code, immediately and in every process. Paused
            queues and schedules resume, and deleted schedules run again.
          </p>
        </Confirm>
      )}
      <DataView read={read}>
        {({ overrides }) =>
          overrides.length === 0 ? (
            <p className="px-4 pb-3 text-soft">None: settings match the code.</p>
          ) : (
            <>
              <p className="px-4 pb-2 text-soft">
                Options set by an operator. They take precedence over the code, even after a deploy, until
                they are reset.
              </p>
              <OverrideTable overrides={overrides} isOfAll />
            </>
          )
        }
      </DataView>
    </Card>
  )
}

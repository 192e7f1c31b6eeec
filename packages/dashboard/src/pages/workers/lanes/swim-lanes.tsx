/** Swim lanes: what each process ran in the last 15 minutes. Shows saturation, convoys and deploys. */
import { useRecentRuns } from '../../../api/reads.ts'
import type { Instance } from '../../../api/types.ts'
import { Card } from '../../../kit/card.tsx'
import { DataView } from '../../../kit/data-view.tsx'
import { moment, number } from '../../../kit/text/format.ts'
import { lanesOf } from './lane.ts'
import { LaneRow } from './lane-row.tsx'

/** Further processes are counted only. */
const SHOWN = 30

export function SwimLanes({ instances }: { readonly instances: readonly Instance[] }) {
  const read = useRecentRuns()
  const known = new Map(instances.map((instance) => [instance.id, instance]))
  const started = (id: string): number => known.get(id)?.startedAt ?? 0
  return (
    <Card title="Last 15 minutes" className="mb-4">
      <DataView read={read} shape="list">
        {({ from, to, completeFrom, runs }) => {
          // The newest process first: after a deploy, the old ones are below.
          const lanes = lanesOf(runs, to).toSorted((a, b) => started(b.instance) - started(a.instance))
          if (lanes.length === 0) return <p className="text-soft">No jobs ran.</p>
          return (
            <>
              <p className="-mt-2 mb-2 text-xs text-soft">
                One bar per attempt, {moment(from)} to {moment(to)}. Arrow keys move between attempts
                {completeFrom !== null &&
                  `. Shows the newest ${number(runs.length)}: before ${moment(completeFrom)}, some are missing`}
              </p>
              <ul aria-label="Runs by process" className="flex flex-col gap-2">
                {lanes.slice(0, SHOWN).map((lane) => (
                  <LaneRow
                    key={lane.instance}
                    lane={lane}
                    instance={known.get(lane.instance)}
                    from={from}
                    to={to}
                  />
                ))}
              </ul>
              {lanes.length > SHOWN && (
                <p className="mt-2 text-soft">and {number(lanes.length - SHOWN)} more processes</p>
              )}
            </>
          )
        }}
      </DataView>
    </Card>
  )
}

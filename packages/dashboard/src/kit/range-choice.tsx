/** Which stretch of time the charts show: presets, and the way back from one that was drawn on a chart. */
import { Undo2 } from 'lucide-react'
import { type Preset, PRESETS, type Ranging } from '../api/range.ts'
import { Button } from './button.tsx'
import { moment } from './format.ts'
import { Segmented } from './segmented.tsx'

const CHOICES = Object.keys(PRESETS) as Preset[]

export function RangeChoice({ ranging: { range, choose, leave } }: { readonly ranging: Ranging }) {
  return (
    <>
      {range.preset === null && <Drawn {...range.ends()} leave={leave} />}
      <Segmented label="Range" choices={CHOICES} chosen={range.preset} choose={choose} />
    </>
  )
}

interface DrawnProps {
  readonly from: number
  readonly to: number
  readonly leave: () => void
}

function Drawn({ from, to, leave }: DrawnProps) {
  return (
    <span className="inline-flex items-center gap-2">
      <span className="text-xs text-soft tabular-nums">
        {moment(from)} – {moment(to)}
      </span>
      <Button icon={Undo2} onClick={leave}>
        Leave this range
      </Button>
    </span>
  )
}

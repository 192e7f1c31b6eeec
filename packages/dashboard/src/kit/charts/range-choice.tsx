/** Time range of the charts: presets, and a button that resets the zoom. */
import { Undo2 } from 'lucide-react'
import { type Preset, PRESETS, type Ranging } from '../../api/range.ts'
import { Button } from '../button.tsx'
import { moment } from '../text/format.ts'
import { Segmented } from '../forms/segmented.tsx'

const CHOICES = Object.keys(PRESETS) as Preset[]
const ALL = 'all'

interface Props {
  readonly ranging: Ranging
  /** Offers all time, too, and is called with it. */
  readonly all?: { readonly isChosen: boolean; readonly choose: () => void }
}

export function RangeChoice({ ranging: { range, choose, leave }, all }: Props) {
  if (all !== undefined)
    return (
      <>
        {range.preset === null && <Drawn {...range.ends()} leave={leave} />}
        <Segmented
          label="Time range"
          choices={[ALL, ...CHOICES]}
          chosen={all.isChosen ? ALL : range.preset}
          choose={(choice) => (choice === ALL ? all.choose() : choose(choice))}
        />
      </>
    )
  return (
    <>
      {range.preset === null && <Drawn {...range.ends()} leave={leave} />}
      <Segmented label="Time range" choices={CHOICES} chosen={range.preset} choose={choose} />
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
        Reset zoom
      </Button>
    </span>
  )
}

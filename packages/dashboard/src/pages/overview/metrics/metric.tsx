/** One metric: its current value and its change since an hour ago. It links to the page that explains it. */
import { ArrowDown, ArrowUp, Equal } from 'lucide-react'
import { Link } from 'wouter'
import { classes } from '../../../kit/classes.ts'
import { Tip } from '../../../kit/overlays/tip.tsx'
import { Bar } from '../../../kit/skeleton.tsx'
import type { Change } from './compare.ts'

export interface MetricProps {
  readonly name: string
  readonly value: string
  /** Shown after the value: its unit or its total. */
  readonly unit?: string
  readonly change: Change | null
  /** What is measured, and how. */
  readonly about: string
  readonly to: string
  /** Shown first, in red. */
  readonly isBad?: boolean
}

const ARROWS = { up: ArrowUp, down: ArrowDown, same: Equal } as const
const COLOURS = { better: 'text-done', worse: 'text-dead' } as const

export function Metric({ name, value, unit, change, about, to, isBad = false }: MetricProps) {
  return (
    <Tip text={about}>
      <Link
        href={to}
        className="flex min-w-0 flex-col gap-0.5 bg-card px-4 py-3 hover:bg-sunk focus-visible:z-10 focus-visible:outline-offset-[-2px]"
      >
        <span className="text-xs text-soft">{name}</span>
        <span className="truncate">
          <b className={classes('text-2xl font-semibold tracking-tight tabular-nums', isBad && 'text-dead')}>
            {value}
          </b>
          {unit !== undefined && <span className="ml-1.5 text-xs text-soft">{unit}</span>}
        </span>
        <Against change={change} />
      </Link>
    </Tip>
  )
}

/** A placeholder that is as high as the metric. */
export function LoadingMetric({ name }: Pick<MetricProps, 'name'>) {
  return (
    <div aria-busy="true" className="flex flex-col gap-0.5 bg-card px-4 py-3">
      <span className="text-xs text-soft">{name}</span>
      <span className="flex h-8 items-center">
        <Bar className="h-6 w-20" />
      </span>
      <span className="flex h-4 items-center">
        <Bar className="h-3 w-28" />
      </span>
    </div>
  )
}

function Against({ change }: { readonly change: Change | null }) {
  if (change === null) return <span className="text-xs text-soft">no data an hour ago</span>
  const Arrow = ARROWS[change.direction]
  const { verdict, words } = change
  return (
    <span
      className={classes(
        'flex items-center gap-1 text-xs',
        verdict === null ? 'text-soft' : COLOURS[verdict],
      )}
    >
      <Arrow aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0">
        {words}
        <span className="sr-only"> compared with an hour ago{verdict !== null && `, ${verdict}`}</span>
      </span>
    </span>
  )
}

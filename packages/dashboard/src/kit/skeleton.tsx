/** Placeholders in the shape of what loads, so that the page does not jump when it arrives. */
import { classes } from './classes.ts'

const SHAPES = {
  text: Text,
  line: Line,
  list: List,
  table: Rows,
  facts: FactRows,
  chart: Plot,
  charts: Plots,
  tiles: Tiles,
  groups: Groups,
  cards: Cards,
} as const
export type Shape = keyof typeof SHAPES

export function Skeleton({ shape = 'text' }: { readonly shape?: Shape | undefined }) {
  const Drawn = SHAPES[shape]
  return (
    <div role="status" aria-busy="true" aria-label="Loading">
      <Drawn />
    </div>
  )
}

/** The widths repeat, so that lines look like words and not like a block. */
const WIDTHS = ['w-3/5', 'w-4/5', 'w-2/5', 'w-1/2', 'w-2/3'] as const
const many = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

/** The note below the title of a page. */
export const NOTE = <Bar className="my-0.5 h-4 w-48" />

/** A word or a number that is loaded. */
export function Bar({ className }: { readonly className: string }) {
  return <span className={classes('block animate-pulse rounded bg-sunk', className)} />
}

const width = (at: number): string => WIDTHS[at % WIDTHS.length] ?? 'w-1/2'

function Text() {
  return (
    <div className="flex flex-col gap-2">
      {many(3).map((at) => (
        <Bar key={at} className={classes('h-4', width(at))} />
      ))}
    </div>
  )
}

function Line() {
  return <Bar className="my-0.5 h-4 w-3/5" />
}

/** A heading, and rows of five cells: fewer on a phone. Has padding, because a table fills its card. */
function Rows() {
  return (
    <div className="divide-y divide-line px-4">
      {many(7).map((row) => (
        <div key={row} className="grid grid-cols-[2fr_1fr_1fr] gap-6 py-3 sm:grid-cols-[2fr_1fr_1fr_1fr_1fr]">
          {many(5).map((cell) => (
            <Bar
              key={cell}
              className={classes(row === 0 ? 'h-3' : 'h-4', width(row + cell), cell > 2 && 'max-sm:hidden')}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

function List() {
  return (
    <div className="flex flex-col gap-3">
      {many(5).map((at) => (
        <div key={at} className="flex items-center gap-3">
          <Bar className="size-2 shrink-0 rounded-full" />
          <div className="grow">
            <Bar className={classes('h-4', width(at))} />
          </div>
          <Bar className="h-3 w-16 shrink-0" />
        </div>
      ))}
    </div>
  )
}

function FactRows() {
  return (
    <div className="grid grid-cols-[6rem_1fr] gap-x-4 gap-y-2.5">
      {many(5).map((at) => [
        <Bar key={`${at} name`} className="h-4 w-4/5" />,
        <Bar key={`${at} value`} className={classes('h-4', width(at))} />,
      ])}
    </div>
  )
}

function Plot() {
  return <Bar className="h-44 w-full rounded-lg" />
}

function Plots() {
  return (
    <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
      {many(6).map((at) => (
        <div key={at} className="rounded-xl border border-line bg-card p-4">
          <Bar className="mb-2 h-4 w-1/3" />
          <Bar className="mb-3 h-3 w-1/2" />
          <Plot />
          <Bar className="mt-2 h-4 w-3/5" />
        </div>
      ))}
    </div>
  )
}

function Tiles() {
  return (
    <div className="grid grid-cols-2 gap-x-5 gap-y-4 sm:grid-cols-3 lg:grid-cols-6">
      {many(6).map((at) => (
        <div key={at} className="flex flex-col gap-2">
          <Bar className="h-3 w-2/3" />
          <Bar className="h-5 w-1/2" />
          <Bar className="h-7 w-full" />
        </div>
      ))}
    </div>
  )
}

/** Two lines each, with numbers on the right. */
function Groups() {
  return (
    <div className="divide-y divide-line rounded-xl border border-line bg-card px-4">
      {many(5).map((at) => (
        <div key={at} className="flex items-center gap-6 py-3">
          <div className="flex grow flex-col gap-2">
            <Bar className={classes('h-4', width(at))} />
            <Bar className="h-3 w-1/4" />
          </div>
          {many(3).map((cell) => (
            <Bar key={cell} className="h-4 w-14 shrink-0 max-lg:hidden" />
          ))}
        </div>
      ))}
    </div>
  )
}

function Cards() {
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      {many(2).map((at) => (
        <div key={at} className="rounded-xl border border-line bg-card p-4">
          <Bar className="mb-4 h-5 w-1/3" />
          <FactRows />
        </div>
      ))}
    </div>
  )
}

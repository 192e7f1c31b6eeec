/** A line chart small enough for a table: it shows the shape, not the values. */
interface Props {
  readonly label: string
  readonly values: readonly number[]
  readonly colour?: string
  /** Fills its container instead of having the width of a column. */
  readonly isWide?: boolean
}

const WIDTH = 96
const HEIGHT = 24

export function Sparkline({ label, values: given, colour = 'accent', isWide = false }: Props) {
  // A single value is drawn as a line too.
  const values = given.length === 1 ? [...given, ...given] : given
  const most = Math.max(...values, 1e-9)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 3)).toFixed(1)}`,
  )
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio={isWide ? 'none' : undefined}
      className={isWide ? 'h-8 w-full' : 'h-6 w-24 max-w-full shrink-0'}
    >
      <polygon
        points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`}
        fill={`var(--c-${colour})`}
        opacity="0.18"
      />
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={`var(--c-${colour})`}
        strokeWidth="1.5"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}

/** A bar chart of counts. */
export function Bars({ label, values, colour = 'dead' }: Props) {
  const most = Math.max(...values, 1)
  const step = WIDTH / Math.max(1, values.length)
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="h-6 w-24 max-w-full shrink-0"
    >
      {values.map((value, at) => {
        const height = value === 0 ? 1 : Math.max(2, (value / most) * HEIGHT)
        return (
          <rect
            // oxlint-disable-next-line react/no-array-index-key
            key={at}
            x={at * step}
            y={HEIGHT - height}
            width={Math.max(1, step - 1)}
            height={height}
            fill={`var(--c-${value === 0 ? 'line' : colour})`}
          />
        )
      })}
    </svg>
  )
}

/** Resource usage of the database and this process, sampled since the dashboard was opened. */
import { LinkButton } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { classes } from '../../../kit/classes.ts'
import { DataView } from '../../../kit/data-view.tsx'
import { Sparkline } from '../../../kit/charts/sparkline.tsx'
import { type Gauge, gaugesOf } from './gauges.ts'
import { useSamples } from './use-samples.ts'

export function ResourcesCard() {
  const read = useSamples()
  return (
    <Card
      title="Resources"
      tools={
        <LinkButton to="/system" look="quiet">
          Database details
        </LinkButton>
      }
    >
      <p className="-mt-2 mb-3 text-xs text-soft">
        Up to the last 15 minutes, sampled while this tab is open
      </p>
      <DataView read={read} shape="tiles">
        {(samples) => (
          <ul className="grid grid-cols-2 gap-x-5 gap-y-4 sm:grid-cols-3 lg:grid-cols-[repeat(auto-fit,minmax(8.5rem,1fr))]">
            {gaugesOf(samples).map((gauge) => (
              <Tile key={gauge.name} gauge={gauge} />
            ))}
          </ul>
        )}
      </DataView>
    </Card>
  )
}

function Tile({ gauge: { name, value, note, isLow, values } }: { readonly gauge: Gauge }) {
  return (
    <li className="flex min-w-0 flex-col gap-1">
      <span className="text-xs text-soft">{name}</span>
      <span className="flex flex-wrap items-baseline gap-x-1.5">
        <b className={classes('text-lg font-semibold tabular-nums', isLow && 'text-dead')}>{value}</b>
        <span className="text-xs text-soft">{note}</span>
      </span>
      <Sparkline isWide label={`${name} over time`} values={values} colour={isLow ? 'dead' : 'accent'} />
    </li>
  )
}

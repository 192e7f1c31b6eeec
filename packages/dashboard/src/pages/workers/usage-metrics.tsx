/** CPU, memory and event-loop lag of a process, with sparklines. */
import { Sparkline } from '../../kit/charts/sparkline.tsx'
import type { Used } from './usage.ts'

export function UsageMetrics({ used, of }: { readonly used: readonly Used[]; readonly of: string }) {
  if (used.length === 0)
    return <p className="text-soft">No usage reported yet. Processes report every 10 s.</p>
  return (
    <dl className="grid grid-cols-3 gap-2">
      {used.map(({ name, about, now, values }) => (
        <div key={name} className="min-w-0 rounded-lg bg-sunk px-3 py-2">
          <dt className="text-xs text-soft" title={about}>
            {name}
          </dt>
          <dd className="font-medium whitespace-nowrap tabular-nums">
            {now}
            <span className="mt-1 block overflow-hidden">
              <Sparkline label={`${name} of ${of} over 15 min`} values={values} />
            </span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

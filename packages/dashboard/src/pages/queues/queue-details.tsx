/** A queue that was opened: how it is set, who serves it, and what it did over time. */
import { useDifferences } from '../../api/differences.ts'
import type { QueueAndCounts, Unserved } from '../../api/types/mill.ts'
import { Fact, Facts } from '../../kit/card.tsx'
import { CodeSays } from '../../kit/code-says.tsx'
import { number, plural, span } from '../../kit/format.ts'
import { QueueCharts } from './queue-charts.tsx'
import { RETAINED } from './queue-form.ts'
import { ServedBy } from './served-by.tsx'
import type { Server } from './serving.ts'

interface Props {
  readonly queue: QueueAndCounts
  readonly servers: readonly Server[]
  readonly unserved: readonly Unserved[]
}

export function QueueDetails({ queue: { settings }, servers, unserved }: Props) {
  const differs = useDifferences('queue', settings.name)
  return (
    <div className="grid gap-6 xl:grid-cols-[20rem_1fr]">
      <div className="flex min-w-0 flex-col gap-4">
        <Facts>
          <Fact name="Served by">
            <ServedBy servers={servers} isWhole />
          </Fact>
          {unserved.length > 0 && (
            <Fact name="Nobody serves">
              {unserved.map(({ kind, jobs }) => (
                <p key={kind} className="text-dead">
                  <span className="font-mono text-xs break-all">{kind}</span>, {plural(jobs, 'job')}
                </p>
              ))}
            </Fact>
          )}
          <Fact name="Workers">
            <CodeSays difference={differs.get('workers')}>
              {settings.workers === null ? 'as many as there is room' : `${number(settings.workers)} in all`}
            </CodeSays>
          </Fact>
          <Fact name="Backoff">
            {settings.backoffEnabled
              ? `${span(settings.backoffBaseMs)} at first, at most ${span(settings.backoffMaxMs)}`
              : 'off'}
            {settings.throttles > 0 && `, throttled ${plural(settings.throttles, 'time')} of late`}
            {['backoffEnabled', 'backoffBaseMs', 'backoffMaxMs'].map((field) => (
              <CodeSays key={field} difference={differs.get(field)} />
            ))}
          </Fact>
          {RETAINED.map(([state, age, most]) => (
            <Fact key={state} name={`Keeps ${state}`}>
              {keptFor(settings[age], settings[most])}
              <CodeSays difference={differs.get(age)} />
              <CodeSays difference={differs.get(most)} />
            </Fact>
          ))}
        </Facts>
      </div>
      <QueueCharts queue={settings.name} />
    </div>
  )
}

function keptFor(ms: number | null, most: number | null): string {
  const age = ms === null ? 'forever' : `for ${span(ms)}`
  return most === null ? age : `${age}, at most ${number(most)}`
}

/** Everything that needs somebody, the worst first. */
import { useDiagnostics } from '../../api/reads.ts'
import { Card } from '../../kit/card.tsx'
import { Shown } from '../../kit/shown.tsx'
import { Badge } from '../../kit/state.tsx'

export function Diagnostics() {
  const read = useDiagnostics()
  return (
    <Card title="Findings">
      <Shown read={read}>
        {({ diagnostics }) =>
          diagnostics.length === 0 ? (
            <p className="text-soft">
              Nothing needs you. Processes, duties, queues, limits, schedules and the database were looked at.
            </p>
          ) : (
            <ul aria-label="Findings" className="divide-y divide-line">
              {diagnostics.map(({ check, level, says, fix, about }) => (
                <li
                  key={`${check} ${about.what} ${about.name} ${says}`}
                  className="flex flex-col gap-0.5 py-2 first:pt-0"
                >
                  <span className="flex flex-wrap items-baseline gap-x-3">
                    <Badge colour={level === 'error' ? 'text-dead' : 'text-ready'} text={level} />
                    <span className="text-xs text-soft">{check}</span>
                  </span>
                  <span className="break-words first-letter:uppercase">{says}</span>
                  {fix !== null && <span className="break-words text-soft">{fix}</span>}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  )
}

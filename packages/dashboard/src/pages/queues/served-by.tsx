/**
 * The processes that serve a queue, with their workers. If there is no such process, that is highlighted as a
 * problem.
 */
import { TextLink } from '../../kit/button.tsx'
import { number } from '../../kit/text/format.ts'
import { nameOf, type Server } from './serving.ts'

const SHOWN = 2

export function ServedBy({ servers, isWhole = false }: { servers: readonly Server[]; isWhole?: boolean }) {
  if (servers.length === 0) return <span className="font-medium text-dead">none</span>
  const shown = isWhole ? servers : servers.slice(0, SHOWN)
  return (
    <ul>
      {shown.map(({ instance, workers }) => (
        <li key={instance.id} className="flex items-baseline gap-1.5 whitespace-nowrap">
          <span className="max-w-40 truncate" title={instance.label ?? instance.id}>
            <TextLink to="/workers">{nameOf(instance)}</TextLink>
          </span>
          {workers !== null && <span className="text-xs text-soft tabular-nums">× {number(workers)}</span>}
        </li>
      ))}
      {servers.length > shown.length && (
        <li className="text-xs text-soft">and {number(servers.length - shown.length)} more</li>
      )}
    </ul>
  )
}

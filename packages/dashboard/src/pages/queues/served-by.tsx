/**
 * The processes that serve a queue, with their workers. If there is no such process, that is highlighted as a
 * problem. A row of a table has room for one name, or for their number.
 */
import { TextLink } from '../../kit/button.tsx'
import { Tip } from '../../kit/overlays/tip.tsx'
import { number, plural } from '../../kit/text/format.ts'
import { nameOf, type Server } from './serving.ts'

interface Props {
  readonly servers: readonly Server[]
}

export function ServedBy({ servers }: Props) {
  const [first, ...others] = servers
  if (first === undefined) return <None />
  if (others.length === 0)
    return (
      <TextLink to="/workers" className="block max-w-36 truncate">
        <span title={nameOf(first.instance)}>{nameOf(first.instance)}</span>
      </TextLink>
    )
  return (
    <Tip text={servers.map(textOf).join(', ')}>
      <span className="whitespace-nowrap">
        <TextLink to="/workers">{plural(servers.length, 'process', 'processes')}</TextLink>
      </span>
    </Tip>
  )
}

/** Each process with its share of the queue's workers, if it has one. */
export function ServerList({ servers }: Props) {
  if (servers.length === 0) return <None />
  return (
    <ul>
      {servers.map(({ instance, workers }) => (
        <li key={instance.id}>
          <TextLink to="/workers" className="wrap-anywhere">
            <span title={instance.id}>{nameOf(instance)}</span>
          </TextLink>{' '}
          {workers !== null && (
            <span className="text-xs whitespace-nowrap text-soft tabular-nums">× {number(workers)}</span>
          )}
        </li>
      ))}
    </ul>
  )
}

/** "worker-1 × 3" */
function textOf({ instance, workers }: Server): string {
  return `${nameOf(instance)}${workers === null ? '' : ` × ${number(workers)}`}`
}

function None() {
  return <span className="font-medium text-dead">none</span>
}

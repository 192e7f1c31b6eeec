/** The state of an instance as the command line shows it, with its color. */
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { Style } from './terminal.ts'

const STYLES: Readonly<Record<InstanceRecord['state'], Style>> = {
  alive: 'green',
  expired: 'yellow',
  lost: 'red',
  stopped: 'gray',
}

/** Shows the request of an operator instead of `alive`. */
export function instanceState({ state, requested }: Pick<InstanceRecord, 'state' | 'requested'>): {
  readonly text: string
  readonly style: Style
} {
  if (state !== 'alive' || requested === null) return { text: state, style: STYLES[state] }
  return { text: requested === 'quiet' ? 'quiet' : 'stopping', style: 'yellow' }
}
